import { describe, expect, test } from 'bun:test'
import { scene, statusOf } from './fixture.ts'

const begun = async () => {
  const it = await scene({ kind: 'rest' })
  const created = await it.ann.create({ lng: 'zh' })
  const id: string = created.json.verification_id
  return { ...it, id, created, poll: () => it.ann.query(id) }
}

describe('a creation', () => {
  test('is forwarded byte for byte, there and back', async () => {
    const { ann, sibling } = await scene({ kind: 'rest' })
    const { status, text, headers } = await ann.create('{ "n":12345678901234567890, "a" : 1.0 }')
    expect(sibling.calls[0]).toMatchObject({ method: 'POST', body: '{ "n":12345678901234567890, "a" : 1.0 }' })
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(/^\{ "verification_id":.*"https:\/\/h5\.test\/a\?b\\u0026c".*"n":12345678901234567890 \}$/),
    ])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('without a body is one with {}, and ProjectName goes', async () => {
    const { ann, sibling } = await scene({ kind: 'rest' })
    await ann.create()
    await ann.create('{"ProjectName":"p","a":{"ProjectName":1}}')
    expect(sibling.calls.map(({ body }) => body)).toEqual(['{}', '{"a":{"ProjectName":1}}'])
  })

  test('is recorded before it is answered, and a 500 when it cannot be', async () => {
    const { ann, store, lines } = await scene({ kind: 'rest' })
    store.addVerification = async () => {
      throw new Error('the disk is full')
    }
    const { status, json } = await ann.create()
    expect([status, json.error.message]).toEqual([500, 'failed to record face verification'])
    expect(lines.join()).toContain('disk is full')
  })

  test('whose id is another user’s task is a 500, and that task stays theirs', async () => {
    const { ann, bob, sibling, id } = await begun()
    sibling.instead = () => Response.json({ verification_id: id, status: 'waiting_user', h5_url: 'https://secret' })
    const { status, text } = await bob.create()
    expect([status, text.includes('secret')]).toEqual([500, false])
    sibling.instead = undefined
    expect([(await bob.query(id)).status, (await ann.query(id)).status]).toEqual([404, 200])
  })

  test('that the upstream refuses, or answers without an id, leaves no task', async () => {
    const { ann, store, sibling } = await scene({ kind: 'rest' })
    sibling.instead = () => Response.json({ say: 1 }, { status: 418 })
    expect(await ann.create()).toMatchObject({ status: 418, text: '{"say":1}' })
    for (const body of [{}, { verification_id: '' }, { verification_id: 7 }, { verification_id: 'a/b' }]) {
      sibling.instead = () => Response.json(body)
      expect((await ann.create()).status).toBe(502)
    }
    expect(await store.nextVerificationDue('rest')).toBeUndefined()
  })
})

describe('a query', () => {
  test('is forwarded to the upstream each time, and its answer back', async () => {
    const { poll, sibling, id } = await begun()
    sibling.set(id, { status: 'resolving', more: { a: 1.5 } })
    expect((await poll()).text).toBe(`{"verification_id":"${id}","status":"resolving","more":{"a":1.5}}`)
    expect((await poll()).status).toBe(200)
    expect(sibling.calls.slice(1).map(({ method, url }) => [method, url])).toEqual(
      Array(2).fill(['GET', `https://up.test/api/media/face-verifications/${id}`]),
    )
  })

  test('of another’s task, or none, gets one and the same 404, and the upstream is not asked', async () => {
    const { bob, ann, id, sibling } = await begun()
    const replies = [
      await bob.query(id),
      await bob.query('none'),
      await ann.query(`${id}%2f..`),
      await ann.query('%00'),
    ]
    for (const { status, text } of replies) {
      expect([status, text]).toEqual([
        404,
        '{"success":false,"error":{"message":"verification not found","type":"media_proxy_error"}}',
      ])
    }
    expect(sibling.calls.length).toBe(1)
  })

  test('answers verified after the group is the creator’s', async () => {
    const { poll, sibling, store, id } = await begun()
    sibling.set(id, { status: 'verified', group_id: 'g-1' })
    const { adoptGroup } = store
    store.adoptGroup = async () => {
      throw new Error('the disk is full')
    }
    expect((await poll()).status).toBe(500)
    store.adoptGroup = adoptGroup
    expect((await poll()).json.group_id).toBe('g-1')
    expect(await store.group('g-1')).toMatchObject({ user: 'ann', type: 'LivenessFace' })
    expect((await poll()).json.status).toBe('verified')
  })

  test('never hands over a group of somebody else’s, whatever the status it comes with', async () => {
    for (const status of ['verified', 'resolving', 'whatever']) {
      const { poll, sibling, store, id, lines } = await begun()
      await store.adoptGroup({ id: 'g-bob', user: 'bob', type: 'LivenessFace', name: 'b', createdAt: 1 })
      sibling.set(id, { status, group_id: 'g-bob' })
      const { status: code, text } = await poll()
      expect([code, text.includes('g-bob')]).toEqual([500, false])
      expect(await statusOf(store, id)).toBe('waiting_user')
      expect(lines.some((line) => line.startsWith('error'))).toBeTrue()
    }
  })

  test('that is verified without a group, or with none that can be one, is an invalid answer', async () => {
    const { poll, sibling, id, store } = await begun()
    for (const group_id of [undefined, null, '', 7, 'a b', {}]) {
      sibling.set(id, { status: 'verified', group_id })
      expect(await poll()).toMatchObject({
        status: 502,
        json: { error: { message: 'upstream returned an invalid response' } },
      })
    }
    expect(await statusOf(store, id)).toBe('waiting_user')
  })

  test('while the upstream fails gets its status and body, or 502, and the state stays', async () => {
    const { poll, sibling, id, store } = await begun()
    sibling.set(id, { status: 'callback_received' })
    await poll()
    for (const status of [400, 404, 410, 429, 500]) {
      sibling.instead = () => Response.json({ say: status }, { status })
      expect(await poll()).toMatchObject({ status, text: `{"say":${status}}` })
    }
    sibling.instead = () => {
      throw new Error('away')
    }
    expect(await poll()).toMatchObject({ status: 502, json: { error: { message: 'Seedance upstream unavailable' } } })
    expect(await statusOf(store, id)).toBe('callback_received')
  })

  test('remembers no step that is none, and forwards it all the same', async () => {
    const { poll, sibling, id, store } = await begun()
    for (const [said, kept] of [
      ['resolving', 'resolving'],
      ['waiting_user', 'resolving'],
      ['dancing', 'resolving'],
      ['failed', 'failed'],
      ['resolving', 'failed'],
    ] as const) {
      sibling.set(id, { status: said })
      expect((await poll()).json.status).toBe(said)
      expect(await statusOf(store, id)).toBe(kept)
    }
  })
})
