import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Emulator, EmulatorAction } from '../../src/emulator/index.ts'
import type { Reply, User } from '../support/gateway.ts'
import { userAt } from '../support/gateway.ts'
import { repetitions } from '../support/repetitions.ts'
import type { ServerProcess } from '../support/server.ts'
import { arkOf, type Browser, browse, type Fixture, faces, newToken, openFixture, send } from './fixture.ts'

interface Person extends Browser {
  readonly id: string
  readonly name: string
  readonly caller: User
}

const kinds = repetitions<'rest' | 'ark'>('ark', 'rest')

describe.each(kinds)('face verification with an upstream of kind %s', (kind) => {
  let fixture: Fixture
  let server: ServerProcess
  let emulator: Emulator
  let number = 0
  beforeAll(async () => {
    fixture = await openFixture()
    emulator = fixture.emulator
    server = await fixture.start(kind === 'ark' ? arkOf(fixture) : {})
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const addPerson = async (): Promise<Person> => {
    const name = `person ${number++}`
    const id = await fixture.addPerson(name)
    const browser = await browse(server, name)
    return { ...browser, id, name, caller: userAt(server.url, id, (await newToken(browser)).token) }
  }
  const startVerification = async (
    by: Person,
  ): Promise<{ id: string; token: string; json: Record<string, unknown> }> => {
    const { status, json } = await by.ask('POST', faces, {})
    expect(status).toBe(200)
    return { id: json.verification_id, token: emulator.face.sessions().at(-1)?.bytedToken ?? '', json }
  }
  /** The person finishes the check. Returns the callback address. */
  const finish = (token: string, how: 'succeed' | 'fail' = 'succeed') => new URL(emulator.face.finish(token, how) ?? '')
  const visit = (url: URL): Promise<Reply> => send(url.origin, 'GET', url.pathname + url.search)
  const poll = (by: Person, id: string) => by.ask('GET', `${faces}/${id}`)
  const untilEnded = async (by: Person, id: string) => {
    for (;;) {
      const { status, json } = await poll(by, id)
      expect(status).toBe(200)
      if (['verified', 'failed', 'expired'].includes(json.status)) return json
      await Bun.sleep(50)
    }
  }
  const withoutDate = ({ status, text, headers }: Reply) => {
    const { date: _, 'x-request-id': id, ...rest } = Object.fromEntries(headers)
    return { status, text, headers: rest }
  }
  /** Makes the upstream respond with that JSON. */
  const respondWith = (json: object, action: EmulatorAction = 'GetVisualValidateResult') =>
    emulator.faults.add({
      kind: 'status',
      status: 200,
      body: JSON.stringify(json),
      headers: { 'content-type': 'application/json' },
      action,
      times: Number.POSITIVE_INFINITY,
    })
  /** Makes the upstream report that group as the result. */
  const reportGroup = (id: string) =>
    respondWith(kind === 'ark' ? { Result: { GroupId: id } } : { status: 'verified', group_id: id })

  test('a task of another user gets the same response as an unknown one, without a request to the upstream', async () => {
    const [ann, bob] = [await addPerson(), await addPerson()]
    const { id } = await startVerification(ann)
    const states: (() => Promise<unknown>)[] = [
      async () => {},
      async () => await visit(finish(emulator.face.sessions().at(-1)?.bytedToken ?? '')),
    ]
    for (const reach of states) {
      await reach()
      await untilEndedOrWaiting(ann, id)
      emulator.clearCalls()
      const unknown = withoutDate(await poll(bob, 'f9b1651d-cd6e-47bf-9efe-d1552db78032'))
      expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('"verification not found"') })
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
        const reply = withoutDate(await poll(bob, other))
        if (other !== '..' && other !== '%2e%2e') expect([other, reply]).toEqual([other, unknown])
      }
      expect(emulator.calls).toEqual([])
    }
  })
  const untilEndedOrWaiting = async (by: Person, id: string) => {
    const { json } = await poll(by, id)
    return json.status === 'waiting_user' ? json : untilEnded(by, id)
  }

  test('records the group for its creator, and only the creator can use it', async () => {
    const [ann, bob] = [await addPerson(), await addPerson()]
    const { id, token } = await startVerification(ann)
    await visit(finish(token))
    const { group_id: group } = await untilEnded(ann, id)
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

  test('never returns a group of another user, of either type, when the upstream reports one', async () => {
    const [ann, bob] = [await addPerson(), await addPerson()]
    const hers = await startVerification(ann)
    await visit(finish(hers.token))
    const face: string = (await untilEnded(ann, hers.id)).group_id
    const plain: string = (await ann.caller.ask('POST', '/assets/groups', { Name: 'plain' })).json.Result.Id
    for (const group of [face, plain]) {
      const { id, token } = await startVerification(bob)
      const callback = finish(token)
      const fault = reportGroup(group)
      const page = await visit(callback)
      expect(page.text).not.toContain(group)
      for (let polls = 0; polls < 3; polls++) {
        const reply = await poll(bob, id)
        expect(reply.status).toBe(500)
        expect(reply.text).not.toContain(group)
      }
      fault.remove()
      expect((await fixture.store.group(group))?.user).toBe(ann.id)
      expect((await fixture.store.groupsOf(bob.id)).map(({ id }) => id)).not.toContain(group)
      // Once the upstream reports the right group, so does the gateway.
      const { group_id: own } = await untilEnded(bob, id)
      expect([face, plain]).not.toContain(own)
    }
    expect(server.stderr()).toContain('the group of a face verification belongs to another user')
    expect((await ann.caller.ask('GET', '/assets/groups?GroupType=LivenessFace')).json.Result.TotalCount).toBe(1)
  })

  test('rejects an invalid group id, and a success without a group', async () => {
    const ann = await addPerson()
    const { id, token } = await startVerification(ann)
    await visit(finish(token, 'fail'))
    const other = await startVerification(ann)
    const callback = finish(other.token)
    for (const invalid of ['../x', 'a,b', 'a b', 'a/b', '\u0000', 'x'.repeat(300), '%2e%2e', '.']) {
      const fault = reportGroup(invalid)
      const reply = kind === 'ark' ? undefined : await poll(ann, other.id)
      if (kind === 'ark') await visit(callback)
      const polled = reply ?? (await poll(ann, other.id))
      expect([invalid, polled.status]).toEqual([invalid, 502])
      fault.remove()
    }
    expect(await fixture.store.groupsOf(ann.id)).toEqual([])
    const empty = reportGroup('')
    const reply = await poll(ann, other.id)
    expect([reply.status, reply.json.status]).toEqual(kind === 'ark' ? [200, 'resolving'] : [502, undefined])
    empty.remove()
    expect((await poll(ann, id)).json.status).toBe('failed')
  })

  if (kind === 'rest') {
    test('a task id belongs to the first user who gets it', async () => {
      const [ann, bob] = [await addPerson(), await addPerson()]
      const { id, json } = await startVerification(ann)
      const fault = respondWith(json, 'CreateVisualValidateSession')
      const reply = await bob.ask('POST', faces, {})
      fault.remove()
      expect(reply.status).toBe(500)
      expect(reply.text).not.toContain(id)
      expect((await poll(bob, id)).status).toBe(404)
      expect((await poll(ann, id)).json.status).toBe('waiting_user')
    })

    test('a response about another task changes neither task and records no group', async () => {
      const [ann, bob] = [await addPerson(), await addPerson()]
      const [hers, his] = [await startVerification(ann), await startVerification(bob)]
      await visit(finish(hers.token))
      const { groupId: group = '' } = emulator.face.sessions().find(({ bytedToken }) => bytedToken === hers.token) ?? {}
      const fault = respondWith({ verification_id: hers.id, status: 'verified', group_id: group })
      const mixed = await poll(bob, his.id)
      fault.remove()
      expect([mixed.status, mixed.text.includes(group)]).toEqual([502, false])
      expect((await poll(bob, his.id)).json.status).toBe('waiting_user')
      expect(await untilEnded(ann, hers.id)).toMatchObject({ status: 'verified', group_id: group })
    })

    test('there is no callback route', async () => {
      const page = await send(server.url, 'GET', `${faces}/callback/${'x'.repeat(43)}?resultCode=10000`)
      expect(page.status).toBe(404)
      expect(page.headers.get('content-type')).toBe('application/json')
    })
  }

  if (kind === 'ark') {
    test('rejects a forged callback: with a wrong state, the state of another task, or a repeated one', async () => {
      const [ann, bob] = [await addPerson(), await addPerson()]
      const hers = await startVerification(ann)
      const his = await startVerification(bob)
      const good = finish(his.token)
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
        expect((await poll(by, id)).json.status).toBe('waiting_user')
      }
      expect((await visit(good)).status).toBe(200)
      const { group_id: group } = await untilEnded(bob, his.id)
      // A repeated callback, and one that reports a failure, change nothing.
      expect((await visit(good)).status).toBe(200)
      await visit(forged(({ searchParams }) => searchParams.set('resultCode', '20001')))
      expect(await untilEnded(bob, his.id)).toMatchObject({ status: 'verified', group_id: group })
      expect((await poll(ann, hers.id)).json.status).toBe('waiting_user')
      expect(await fixture.store.groupsOf(ann.id)).toEqual([])
    })

    test('polls the upstream after a callback that reports a success, and does not trust the callback', async () => {
      const ann = await addPerson()
      const { id, token } = await startVerification(ann)
      const callback = finish(token, 'fail')
      callback.searchParams.set('resultCode', '10000')
      const page = await visit(callback)
      expect(page.status).toBe(200)
      expect(page.text).not.toContain('verified')
      for (let polls = 0; polls < 3; polls++) expect((await poll(ann, id)).json.status).toBe('resolving')
      expect(await fixture.store.groupsOf(ann.id)).toEqual([])
    })

    test('shows a page without any text of its address', async () => {
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

  test('forwards no headers of the browser to the upstream, and no cookies of the upstream to the browser', async () => {
    const ann = await addPerson()
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
    const browserHeaders = {
      referer: 'http://secret.example/',
      'x-forwarded-for': '192.0.2.1',
      authorization: 'Basic x',
    }
    const started = await ann.ask('POST', faces, {}, browserHeaders)
    await visit(finish(emulator.face.sessions().at(-1)?.bytedToken ?? ''))
    const polled = await ann.ask('GET', `${faces}/${started.json.verification_id}`, undefined, browserHeaders)
    // Not once: a poll of the server itself might get it.
    const times = Number.POSITIVE_INFINITY
    const failing = emulator.faults.add({
      kind: 'status',
      status: 500,
      headers: { 'set-cookie': 'session=evil' },
      times,
    })
    const failed = await ann.ask('POST', faces, {}, browserHeaders)
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
      const sent = JSON.stringify(headers)
      for (const value of [ann.cookie.slice(8), 'secret.example', '192.0.2.1', 'Basic', server.url]) {
        expect([value, sent.includes(value)]).toEqual([value, false])
      }
    }
  })

  test('ignores a callback address and a project of the caller', async () => {
    const ann = await addPerson()
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
    // The server also asks for assets in progress, of an earlier test.
    for (const { body } of emulator.calls.filter(({ action }) => action !== 'GetAsset')) {
      expect(body).toContain('"kept":1')
      expect(body).not.toContain('"other"')
      if (kind === 'ark') expect(body).not.toContain(evil)
    }
  })

  test('returns the link only in the response to the creation, which is not cacheable', async () => {
    const ann = await addPerson()
    const reply = await ann.ask('POST', faces, {})
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const polled = await poll(ann, reply.json.verification_id)
    expect(polled.headers.get('cache-control')).toBe('no-store')
    expect(polled.text).not.toContain('h5')
  })
})
