import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Reply, User } from '../support/gateway.ts'
import { userAt } from '../support/gateway.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, faces, newToken, type Office, openOffice, send } from './fixture.ts'

interface Person extends Browser {
  readonly id: string
  readonly name: string
  readonly caller: User
}

describe.each(['rest', 'ark'] as const)('face verification before an upstream of kind %s', (kind) => {
  let office: Office
  let server: ServerProcess
  let emulator: Emulator
  let number = 0
  beforeAll(async () => {
    office = await openOffice()
    emulator = office.emulator
    server = await office.start(kind === 'ark' ? arkOf(office) : {})
  })
  afterAll(() => office[Symbol.asyncDispose]())

  const person = async (): Promise<Person> => {
    const name = `person ${number++}`
    const id = await office.addPerson(name)
    const browser = await browse(server, name)
    return { ...browser, id, name, caller: userAt(server.url, id, (await newToken(browser)).token) }
  }
  const begin = async (by: Person): Promise<{ id: string; token: string; json: Record<string, unknown> }> => {
    const { status, json } = await by.ask('POST', faces, {})
    expect(status).toBe(200)
    return { id: json.verification_id, token: emulator.face.sessions().at(-1)?.bytedToken ?? '', json }
  }
  /** What the person's browser is sent to. */
  const done = (token: string, how: 'succeed' | 'fail' = 'succeed') => new URL(emulator.face.finish(token, how) ?? '')
  const visit = (url: URL): Promise<Reply> => send(url.origin, 'GET', url.pathname + url.search)
  const look = (by: Person, id: string) => by.ask('GET', `${faces}/${id}`)
  const settled = async (by: Person, id: string) => {
    for (;;) {
      const { status, json } = await look(by, id)
      expect(status).toBe(200)
      if (['verified', 'failed', 'expired'].includes(json.status)) return json
      await Bun.sleep(50)
    }
  }
  const seen = ({ status, text, headers }: Reply) => {
    const { date: _, ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest }
  }
  const lie = (json: object, action = 'GetVisualValidateResult') =>
    emulator.faults.add({
      kind: 'status',
      status: 200,
      body: JSON.stringify(json),
      headers: { 'content-type': 'application/json' },
      action,
      times: Number.POSITIVE_INFINITY,
    })
  const groupIs = (id: string) =>
    lie(kind === 'ark' ? { Result: { GroupId: id } } : { status: 'verified', group_id: id })

  test('a task of somebody else is told apart by nothing from one that does not exist, and the upstream is not asked', async () => {
    const [ann, bob] = [await person(), await person()]
    const { id } = await begin(ann)
    const states: (() => Promise<unknown>)[] = [
      async () => {},
      async () => await visit(done(emulator.face.sessions().at(-1)?.bytedToken ?? '')),
    ]
    for (const reach of states) {
      await reach()
      await settledOrWaiting(ann, id)
      emulator.clearCalls()
      const nobodys = seen(await look(bob, 'f9b1651d-cd6e-47bf-9efe-d1552db78032'))
      expect(nobodys).toMatchObject({ status: 404, text: expect.stringContaining('"verification not found"') })
      for (const other of [
        id,
        `${id}%00`,
        id.toUpperCase(),
        `%20${id}`,
        `${id}?user=${ann.id}`,
        '..',
        '%2e%2e',
        `x%2f..%2f${id}`,
        'x'.repeat(300),
      ]) {
        const reply = seen(await look(bob, other))
        if (other !== '..' && other !== '%2e%2e') expect([other, reply]).toEqual([other, nobodys])
      }
      expect(emulator.calls).toEqual([])
    }
  })
  const settledOrWaiting = async (by: Person, id: string) => {
    const { json } = await look(by, id)
    return json.status === 'waiting_user' ? json : settled(by, id)
  }

  test('gives a group to the one who did the check, who alone can put pictures in it', async () => {
    const [ann, bob] = [await person(), await person()]
    const { id, token } = await begin(ann)
    await visit(done(token))
    const { group_id: group } = await settled(ann, id)
    const picture = {
      GroupId: group,
      GroupType: 'LivenessFace',
      URL: 'https://files.example/a.png',
      AssetType: 'Image',
    }
    expect((await bob.caller.ask('POST', '/assets', picture)).status).toBe(403)
    expect((await bob.caller.ask('GET', `/assets?GroupType=LivenessFace&GroupIds=${group}`)).status).toBe(403)
    expect((await bob.caller.ask('GET', `/assets/groups/${group}`)).status).toBe(403)
    expect((await bob.caller.ask('DELETE', `/assets/groups/${group}`)).status).toBe(403)
    expect((await bob.caller.ask('GET', '/assets/groups?GroupType=LivenessFace')).json.Result.TotalCount).toBe(0)
    expect((await ann.caller.ask('POST', '/assets', { ...picture, GroupType: 'AIGC' })).status).toBe(403)
    expect((await ann.caller.ask('POST', '/assets', picture)).status).toBe(200)
  })

  test('never hands over the group of somebody else, of whatever type, though the upstream says so', async () => {
    const [ann, bob] = [await person(), await person()]
    const hers = await begin(ann)
    await visit(done(hers.token))
    const face: string = (await settled(ann, hers.id)).group_id
    const plain: string = (await ann.caller.ask('POST', '/assets/groups', { Name: 'plain' })).json.Result.Id
    for (const group of [face, plain]) {
      const { id, token } = await begin(bob)
      const callback = done(token)
      const fault = groupIs(group)
      const page = await visit(callback)
      expect(page.text).not.toContain(group)
      for (let polls = 0; polls < 3; polls++) {
        const reply = await look(bob, id)
        expect(reply.status).toBe(500)
        expect(reply.text).not.toContain(group)
      }
      fault.remove()
      expect((await office.store.group(group))?.user).toBe(ann.id)
      expect((await office.store.groupsOf(bob.id)).map(({ id }) => id)).not.toContain(group)
      // Once the upstream says the truth, so does the gateway.
      const { group_id: own } = await settled(bob, id)
      expect([face, plain]).not.toContain(own)
    }
    expect(server.stderr()).toContain('the group of a face verification belongs to another user')
    expect((await ann.caller.ask('GET', '/assets/groups?GroupType=LivenessFace')).json.Result.TotalCount).toBe(1)
  })

  test('believes no group that cannot be one, and no success without one', async () => {
    const ann = await person()
    const { id, token } = await begin(ann)
    await visit(done(token, 'fail'))
    const other = await begin(ann)
    const callback = done(other.token)
    for (const odd of ['../x', 'a,b', 'a b', 'a/b', '\u0000', 'x'.repeat(300), '%2e%2e', '.']) {
      const fault = groupIs(odd)
      const reply = kind === 'ark' ? undefined : await look(ann, other.id)
      if (kind === 'ark') await visit(callback)
      const polled = reply ?? (await look(ann, other.id))
      expect([odd, polled.status]).toEqual([odd, 502])
      fault.remove()
    }
    expect(await office.store.groupsOf(ann.id)).toEqual([])
    const empty = groupIs('')
    const reply = await look(ann, other.id)
    expect([reply.status, reply.json.status]).toEqual(kind === 'ark' ? [200, 'resolving'] : [502, undefined])
    empty.remove()
    expect((await look(ann, id)).json.status).toBe('failed')
  })

  if (kind === 'rest') {
    test('of two users with one task id, the first has it', async () => {
      const [ann, bob] = [await person(), await person()]
      const { id, json } = await begin(ann)
      const fault = lie(json, 'CreateVisualValidateSession')
      const reply = await bob.ask('POST', faces, {})
      fault.remove()
      expect(reply.status).toBe(500)
      expect(reply.text).not.toContain(id)
      expect((await look(bob, id)).status).toBe(404)
      expect((await look(ann, id)).json.status).toBe('waiting_user')
    })

    test('an answer about another task gives nobody a group, and leaves both tasks as they stand', async () => {
      const [ann, bob] = [await person(), await person()]
      const [hers, his] = [await begin(ann), await begin(bob)]
      await visit(done(hers.token))
      const { groupId: group = '' } = emulator.face.sessions().find(({ bytedToken }) => bytedToken === hers.token) ?? {}
      const fault = lie({ verification_id: hers.id, status: 'verified', group_id: group })
      const mixed = await look(bob, his.id)
      fault.remove()
      expect([mixed.status, mixed.text.includes(group)]).toEqual([502, false])
      expect((await look(bob, his.id)).json.status).toBe('waiting_user')
      expect(await settled(ann, hers.id)).toMatchObject({ status: 'verified', group_id: group })
    })

    test('has no callback of its own', async () => {
      const page = await send(server.url, 'GET', `${faces}/callback/${'x'.repeat(43)}?resultCode=10000`)
      expect(page.status).toBe(404)
      expect(page.headers.get('content-type')).toBe('application/json')
    })
  }

  if (kind === 'ark') {
    test('believes no forged callback: not of a wrong state, not of another task, not of one that comes again', async () => {
      const [ann, bob] = [await person(), await person()]
      const hers = await begin(ann)
      const his = await begin(bob)
      const good = done(his.token)
      const forged = (change: (url: URL) => void) => {
        const url = new URL(good)
        change(url)
        return url
      }
      const state = good.pathname.split('/').at(-1) ?? ''
      const withState = (text: string) => new URL(good.href.replace(state, text))
      const attempts = [
        withState('x'.repeat(43)),
        withState(`${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`),
        withState(state.toLowerCase()),
        withState(`${state}x`),
        withState(hers.id),
        withState(his.id),
        withState(his.token),
        forged(({ searchParams }) => searchParams.set('bytedToken', hers.token)),
        forged(({ searchParams }) => searchParams.set('bytedToken', '')),
        forged(({ searchParams }) => searchParams.append('bytedToken', hers.token)),
        forged(({ searchParams }) => searchParams.append('resultCode', '10000')),
        forged(({ searchParams }) => searchParams.delete('resultCode')),
        forged(({ searchParams }) => searchParams.set('resultCode', '')),
      ]
      for (const url of attempts) {
        const page = await visit(url)
        expect([url.search, page.status]).toEqual([url.search, 404])
      }
      for (const [by, { id }] of [
        [ann, hers],
        [bob, his],
      ] as const) {
        expect((await look(by, id)).json.status).toBe('waiting_user')
      }
      expect((await visit(good)).status).toBe(200)
      const { group_id: group } = await settled(bob, his.id)
      // Again, and with a bad word: it stays as it is.
      expect((await visit(good)).status).toBe(200)
      await visit(forged(({ searchParams }) => searchParams.set('resultCode', '20001')))
      expect(await settled(bob, his.id)).toMatchObject({ status: 'verified', group_id: group })
      expect((await look(ann, hers.id)).json.status).toBe('waiting_user')
      expect(await office.store.groupsOf(ann.id)).toEqual([])
    })

    test('takes a callback’s success as no more than a reason to ask', async () => {
      const ann = await person()
      const { id, token } = await begin(ann)
      const callback = done(token, 'fail')
      callback.searchParams.set('resultCode', '10000')
      const page = await visit(callback)
      expect(page.status).toBe(200)
      expect(page.text).not.toContain('verified')
      for (let polls = 0; polls < 3; polls++) expect((await look(ann, id)).json.status).toBe('resolving')
      expect(await office.store.groupsOf(ann.id)).toEqual([])
    })

    test('shows a page that says nothing of what stands in its address', async () => {
      const evil = '"><script>alert(1)</script>'
      const at = `${faces}/callback/`
      for (const target of [
        `${at}${encodeURIComponent(evil)}`,
        `${at}${'x'.repeat(43)}?resultCode=${encodeURIComponent(evil)}&bytedToken=${encodeURIComponent(evil)}`,
        `${at}x?redirect=https://evil.example&next=//evil.example`,
      ]) {
        const page = await send(server.url, 'GET', target, undefined, { 'accept-language': `${evil}, zh` })
        expect([page.status, page.headers.get('location')]).toEqual([404, null])
        expect(page.text).not.toMatch(/script|alert|evil/)
        expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
        expect(page.headers.get('referrer-policy')).toBe('no-referrer')
        expect(page.headers.get('cache-control')).toBe('no-store')
        expect(page.headers.get('x-content-type-options')).toBe('nosniff')
        expect(page.headers.get('set-cookie')).toBeNull()
      }
    })
  }

  test('tells the upstream nothing of the browser, and the browser nothing that the upstream would plant', async () => {
    const ann = await person()
    emulator.clearCalls()
    const planted = emulator.faults.add({
      kind: 'headers',
      headers: {
        'set-cookie': 'session=evil; Path=/',
        'cache-control': 'public, max-age=60',
        location: 'http://evil.example/',
      },
      times: Number.POSITIVE_INFINITY,
    })
    const curious = { referer: 'http://secret.example/', 'x-forwarded-for': '192.0.2.1', authorization: 'Basic x' }
    const started = await ann.ask('POST', faces, {}, curious)
    await visit(done(emulator.face.sessions().at(-1)?.bytedToken ?? ''))
    const polled = await ann.ask('GET', `${faces}/${started.json.verification_id}`, undefined, curious)
    const failing = emulator.faults.add({ kind: 'status', status: 500, headers: { 'set-cookie': 'session=evil' } })
    const failed = await ann.ask('POST', faces, {}, curious)
    for (const [status, reply] of [
      [200, started],
      [200, polled],
      [500, failed],
    ] as const) {
      expect(reply.status).toBe(status)
      expect(reply.headers.get('set-cookie')).toBeNull()
      expect(reply.headers.get('location')).toBeNull()
      expect(reply.headers.get('cache-control')).toBe('no-store')
    }
    failing.remove()
    planted.remove()
    expect(emulator.calls.length).toBeGreaterThan(1)
    for (const { headers } of emulator.calls) {
      const said = JSON.stringify(headers)
      for (const own of [ann.cookie.slice(8), 'secret.example', '192.0.2.1', 'Basic', server.url]) {
        expect([own, said.includes(own)]).toEqual([own, false])
      }
    }
  })

  test('lets no caller say where the phone goes, in which project, or about whom', async () => {
    const ann = await person()
    emulator.clearCalls()
    const evil = 'https://evil.example/'
    const body = `{"CallbackURL":"${evil}","callbackurl":"${evil}","CallbackUrl":"${evil}","ProjectName":"other","projectname":"other","kept":1}`
    const { status } = await ann.ask('POST', faces, body)
    const session = emulator.face.sessions().at(-1)
    expect(session?.project).toBe('default')
    if (kind === 'ark') {
      expect(status).toBe(200)
      expect(session?.callbackUrl).toStartWith(`${server.url}${faces}/callback/`)
    }
    for (const { body } of emulator.calls) {
      expect(body).toContain('"kept":1')
      expect(body).not.toContain('"other"')
      if (kind === 'ark') expect(body).not.toContain(evil)
    }
  })

  test('the link and its end are told to its creator once, and kept by nobody on the way', async () => {
    const ann = await person()
    const reply = await ann.ask('POST', faces, {})
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const polled = await look(ann, reply.json.verification_id)
    expect(polled.headers.get('cache-control')).toBe('no-store')
    expect(polled.text).not.toContain('h5')
  })
})
