import { describe, expect, test } from 'bun:test'
import { openFixture, statusOf } from './fixture.ts'

const createTask = async () => {
  const it = await openFixture({ kind: 'rest' })
  const created = await it.ann.create({ lng: 'zh' })
  const id: string = created.json.verification_id
  return { ...it, id, created, poll: () => it.ann.query(id) }
}

describe('a creation', () => {
  test('is forwarded byte for byte, request and response', async () => {
    const { ann, restUpstream } = await openFixture({ kind: 'rest' })
    const { status, text, headers } = await ann.create('{ "n":12345678901234567890, "a" : 1.0 }')
    expect(restUpstream.calls[0]).toMatchObject({ method: 'POST', body: '{ "n":12345678901234567890, "a" : 1.0 }' })
    expect([status, text]).toEqual([
      200,
      expect.stringMatching(/^\{ "verification_id":.*"https:\/\/h5\.test\/a\?b\\u0026c".*"n":12345678901234567890 \}$/),
    ])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('without a body is sent as {}, and ProjectName is removed', async () => {
    const { ann, restUpstream } = await openFixture({ kind: 'rest' })
    await ann.create()
    await ann.create('{"ProjectName":"p","a":{"ProjectName":1}}')
    expect(restUpstream.calls.map(({ body }) => body)).toEqual(['{}', '{"a":{"ProjectName":1}}'])
  })

  test('that cannot be recorded gets 500', async () => {
    const { ann, store, lines } = await openFixture({ kind: 'rest' })
    store.addVerification = async () => {
      throw new Error('the disk is full')
    }
    const { status, json } = await ann.create()
    expect([status, json.error.message]).toEqual([500, 'failed to record face verification'])
    expect(lines.join()).toContain('disk is full')
  })

  test('for which the upstream returns the id of another user’s task gets 500, and the task keeps its owner', async () => {
    const { ann, bob, restUpstream, id } = await createTask()
    restUpstream.instead = () =>
      Response.json({ verification_id: id, status: 'waiting_user', h5_url: 'https://secret' })
    const { status, text } = await bob.create()
    expect([status, text.includes('secret')]).toEqual([500, false])
    restUpstream.instead = undefined
    expect([(await bob.query(id)).status, (await ann.query(id)).status]).toEqual([404, 200])
  })

  test('creates no task when the upstream rejects it or responds without an id', async () => {
    const { ann, store, restUpstream } = await openFixture({ kind: 'rest' })
    restUpstream.instead = () => Response.json({ say: 1 }, { status: 418 })
    expect(await ann.create()).toMatchObject({ status: 418, text: '{"say":1}' })
    for (const body of [{}, { verification_id: '' }, { verification_id: 7 }, { verification_id: 'a/b' }]) {
      restUpstream.instead = () => Response.json(body)
      expect((await ann.create()).status).toBe(502)
    }
    expect(await store.nextVerificationDue('rest')).toBeUndefined()
  })
})

describe('a query', () => {
  test('is forwarded to the upstream each time, and so is the response', async () => {
    const { poll, restUpstream, id } = await createTask()
    restUpstream.set(id, { status: 'resolving', more: { a: 1.5 } })
    expect((await poll()).text).toBe(`{"verification_id":"${id}","status":"resolving","more":{"a":1.5}}`)
    expect((await poll()).status).toBe(200)
    expect(restUpstream.calls.slice(1).map(({ method, url }) => [method, url])).toEqual(
      Array(2).fill(['GET', `https://up.test/api/media/face-verifications/${id}`]),
    )
  })

  test('for a task of another user, or for none, gets the same 404 without a request to the upstream', async () => {
    const { bob, ann, id, restUpstream } = await createTask()
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
    expect(restUpstream.calls.length).toBe(1)
  })

  test('returns verified only after the group is recorded for the creator', async () => {
    const { poll, restUpstream, store, id } = await createTask()
    restUpstream.set(id, { status: 'verified', group_id: 'g-1' })
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

  test('never returns a group of another user, whatever the status', async () => {
    for (const status of ['verified', 'resolving', 'whatever']) {
      const { poll, restUpstream, store, id, lines } = await createTask()
      await store.adoptGroup({ id: 'g-bob', user: 'bob', type: 'LivenessFace', name: 'b', createdAt: 1 })
      restUpstream.set(id, { status, group_id: 'g-bob' })
      const { status: code, text } = await poll()
      expect([code, text.includes('g-bob')]).toEqual([500, false])
      expect(await statusOf(store, id)).toBe('waiting_user')
      expect(lines.some((line) => line.startsWith('error'))).toBeTrue()
    }
  })

  test('gets 502 when the upstream reports verified without a valid group id', async () => {
    const { poll, restUpstream, id, store } = await createTask()
    for (const group_id of [undefined, null, '', 7, 'a b', {}]) {
      restUpstream.set(id, { status: 'verified', group_id })
      expect(await poll()).toMatchObject({
        status: 502,
        json: { error: { message: 'upstream returned an invalid response' } },
      })
    }
    expect(await statusOf(store, id)).toBe('waiting_user')
  })

  test('while the upstream fails gets its status and body, or 502, and the stored status stays', async () => {
    const { poll, restUpstream, id, store } = await createTask()
    restUpstream.set(id, { status: 'callback_received' })
    await poll()
    for (const status of [400, 404, 410, 429, 500]) {
      restUpstream.instead = () => Response.json({ say: status }, { status })
      expect(await poll()).toMatchObject({ status, text: `{"say":${status}}` })
    }
    restUpstream.instead = () => {
      throw new Error('away')
    }
    expect(await poll()).toMatchObject({ status: 502, json: { error: { message: 'Seedance upstream unavailable' } } })
    expect(await statusOf(store, id)).toBe('callback_received')
  })

  test('forwards a status that is no allowed transition, and does not store it', async () => {
    const { poll, restUpstream, id, store } = await createTask()
    for (const [reported, stored] of [
      ['resolving', 'resolving'],
      ['waiting_user', 'resolving'],
      ['dancing', 'resolving'],
      ['failed', 'failed'],
      ['resolving', 'failed'],
    ] as const) {
      restUpstream.set(id, { status: reported })
      expect((await poll()).json.status).toBe(reported)
      expect(await statusOf(store, id)).toBe(stored)
    }
  })
})
