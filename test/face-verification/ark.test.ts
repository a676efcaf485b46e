import { describe, expect, test } from 'bun:test'
import { type FaceStore, keptLog, openFixture, openMigrated, publicUrl, statusOf, storeOn } from './fixture.ts'
import { Vendor } from './vendor.ts'

const down = () => {
  throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
}

/** Creates a task for Ann. */
const createTask = async () => {
  const it = await openFixture()
  const created = await it.ann.create()
  const id: string = created.json.verification_id
  return { ...it, id, created, poll: () => it.ann.query(id) }
}

describe('a creation', () => {
  test('returns the documented fields and no others', async () => {
    const { created, vendor } = await createTask()
    expect([created.status, created.json]).toEqual([
      200,
      {
        verification_id: expect.stringMatching(/^[\w-]{20,}$/),
        status: 'waiting_user',
        h5_url: vendor.sessions.get(vendor.token)?.link,
        expires_at: 1_000 + 1_800,
      },
    ])
    expect(created.headers.get('cache-control')).toBe('no-store')
  })

  test('sends the upstream a callback address with a random state', async () => {
    const { vendor, ann } = await createTask()
    await ann.create()
    const states = vendor.callsTo('CreateVisualValidateSession').map(({ body }) => {
      const url = String(body.CallbackURL)
      expect(url).toStartWith(`${publicUrl}/api/media/face-verifications/callback/`)
      return url.split('/').at(-1) ?? ''
    })
    for (const state of states) expect(Buffer.from(state, 'base64url').length).toBeGreaterThanOrEqual(20)
    expect(new Set(states).size).toBe(2)
  })

  test('forwards the caller’s fields, except callback and project', async () => {
    const { vendor, ann } = await openFixture()
    await ann.create('{"language":"zh","n":1.50,"CallbackURL":"https://evil.test","projectname":"p"}')
    const [call] = vendor.callsTo('CreateVisualValidateSession')
    expect(call?.body).toEqual({
      language: 'zh',
      n: 1.5,
      CallbackURL: expect.stringContaining(publicUrl),
      ProjectName: 'default',
    })
  })

  test('accepts an empty body or a JSON object, and rejects every other body', async () => {
    const { ann, vendor } = await openFixture({ maxBodyBytes: 100 })
    expect((await ann.create('')).status).toBe(200)
    for (const body of ['[]', 'x', '1', '"a"']) expect([body, (await ann.create(body)).status]).toEqual([body, 400])
    expect((await ann.create({ a: 'x'.repeat(100) })).status).toBe(413)
    expect(vendor.calls.length).toBe(1)
  })

  test('works with an upstream that sends the result without the wrapper', async () => {
    const { ann, vendor, ask } = await openFixture()
    vendor.wrapped = false
    const { json } = await ann.create()
    const { group, callback } = vendor.finish()
    await ask(callback)
    expect((await ann.query(json.verification_id)).json.group_id).toBe(group)
  })

  for (const [more, seconds] of [
    [{ ExpiresIn: 120 }, 120],
    [{ ExpireTime: 1_120 }, 120],
    [{ ExpiresAt: '1970-01-01T00:18:40Z' }, 120],
    [{ expires_at: 1_120_000_000_000 }, 1_800],
    [{ ExpiresIn: 7_200 }, 1_800],
    [{ ExpiresIn: -5 }, 1_800],
    [{ ExpiresIn: 'soon' }, 1_800],
  ] as const) {
    test(`expires after ${seconds} s when the upstream returns ${JSON.stringify(more)}`, async () => {
      const { ann, vendor } = await openFixture()
      vendor.more = more
      expect((await ann.create()).json.expires_at).toBe(1_000 + seconds)
    })
  }

  test('that fails at the upstream gets the upstream’s error and creates no task', async () => {
    const { ann, vendor, store } = await openFixture()
    vendor.instead = () => new Response('{"no":1}', { status: 403, headers: { 'content-type': 'application/json' } })
    expect(await ann.create()).toMatchObject({ status: 403, text: '{"no":1}' })
    vendor.instead = down
    expect((await ann.create()).json.error.message).toBe('Seedance upstream unavailable')
    for (const body of [{}, { Result: { BytedToken: 't' } }, { Result: { BytedToken: 't', H5Link: 'javascript:1' } }]) {
      vendor.instead = () => Response.json(body)
      expect(await ann.create()).toMatchObject({
        status: 502,
        json: { error: { message: 'upstream returned an invalid response' } },
      })
    }
    expect(await store.nextVerificationDue('ark')).toBeUndefined()
  })

  test('that cannot be recorded gets 500 without the link', async () => {
    const { ann, store, vendor, lines } = await openFixture()
    store.addVerification = async () => {
      throw new Error('the disk is full')
    }
    const { status, json, text } = await ann.create()
    expect([status, json.error.message]).toEqual([500, 'failed to record face verification'])
    expect(text).not.toContain('kyc')
    expect(vendor.calls.length).toBe(1)
    expect(lines.join()).toContain('disk is full')
  })

  test('is recorded also when the caller disconnects', async () => {
    const { app, vendor, store } = await openFixture()
    const caller = new AbortController()
    vendor.instead = () => {
      caller.abort()
      return undefined
    }
    const url = `${publicUrl}/api/media/face-verifications`
    const { signal } = caller
    await app.handle(new Request(url, { method: 'POST', headers: { 'x-user': 'ann' }, signal }))
    expect(await store.nextVerificationDue('ark')).toBeDefined()
  })
})

describe('a task', () => {
  test('is not polled before the callback', async () => {
    const { id, poll, vendor } = await createTask()
    expect(await poll()).toMatchObject({ status: 200, json: { verification_id: id, status: 'waiting_user' } })
    expect(Object.keys((await poll()).json)).toEqual(['verification_id', 'status'])
    expect(vendor.callsTo()).toEqual([])
  })

  test('is verified by the callback, after its group is recorded for the creator', async () => {
    const { id, poll, vendor, ask, store } = await createTask()
    const { group, callback } = vendor.finish()
    expect((await ask(callback)).status).toBe(200)
    expect((await poll()).json).toEqual({ verification_id: id, status: 'verified', group_id: group })
    expect(await store.group(group)).toMatchObject({ user: 'ann', type: 'LivenessFace', name: 'Face 1970-01-01 00:16' })
    expect(vendor.callsTo().map(({ body }) => body)).toEqual([{ BytedToken: vendor.token, ProjectName: 'default' }])
  })

  test('is not verified until its group is recorded', async () => {
    const { id, poll, vendor, ask, store, lines } = await createTask()
    const { callback, group } = vendor.finish()
    const { adoptGroup } = store
    store.adoptGroup = async () => {
      throw new Error('the disk is full')
    }
    await ask(callback)
    const { status, json } = await poll()
    expect([status, json.error.message]).toEqual([500, 'failed to record the group of a face verification'])
    expect(await statusOf(store, id)).toBe('resolving')
    expect(lines.join()).toContain('disk is full')
    store.adoptGroup = adoptGroup
    expect((await poll()).json).toEqual({ verification_id: id, status: 'verified', group_id: group })
  })

  test('is completed by another process when one ends between the upstream’s response and the record', async () => {
    const database = await openMigrated('sqlite::memory:')
    // Stands for a process that has ended: the call never returns, and the lease is not released.
    const stuckStore = { ...storeOn(database), adoptGroup: () => new Promise<never>(() => {}) }
    const first = await openFixture({ store: stuckStore })
    const id = (await first.ann.create()).json.verification_id
    const { callback, group } = first.vendor.finish()
    const page = first.ask(callback)
    await first.clock.pass(4_000)
    expect((await page).text).toContain('Check received')
    const second = await openFixture({ ...first, store: storeOn(database) })
    expect((await second.ann.query(id)).json.status).toBe('resolving')
    await first.clock.pass(45_000)
    expect((await second.ann.query(id)).json).toEqual({ verification_id: id, status: 'verified', group_id: group })
  })

  test('stays resolving while the upstream has no result, with an empty group id, 404 or 400', async () => {
    for (const notYet of ['empty', '404', '400'] as const) {
      const { poll, vendor, ask, clock } = await createTask()
      vendor.notYet = notYet
      await ask(vendor.callback())
      await clock.pass(2_000)
      expect((await poll()).json.status).toBe('resolving')
      await clock.pass(2_000)
      const { group } = vendor.finish()
      expect((await poll()).json).toMatchObject({ status: 'verified', group_id: group })
    }
  })

  test('is not polled again within a second of a response without a result', async () => {
    const { poll, vendor, ask, clock } = await createTask()
    await ask(vendor.callback())
    await Promise.all([poll(), poll(), poll()])
    expect(vendor.callsTo().length).toBe(1)
    await clock.pass(1_000)
    await Promise.all([poll(), poll(), poll()])
    expect(vendor.callsTo().length).toBe(2)
  })

  test('expires when its time is over without a result, with a callback or without', async () => {
    for (const hasCallback of [false, true]) {
      const { poll, vendor, ask, clock } = await createTask()
      if (hasCallback) await ask(vendor.callback())
      await clock.pass(1_800_000 - 1)
      expect((await poll()).json.status).toBe(hasCallback ? 'resolving' : 'waiting_user')
      await clock.pass(1_001)
      expect((await poll()).json.status).toBe('expired')
      const callCount = vendor.callsTo().length
      vendor.finish()
      expect((await poll()).json.status).toBe('expired')
      expect(vendor.callsTo().length).toBe(callCount)
    }
  })

  test('whose callback was lost is verified at its expiry', async () => {
    const { id, poll, vendor, clock } = await createTask()
    const { group } = vendor.finish()
    await clock.pass(1_800_000)
    expect((await poll()).json).toEqual({ verification_id: id, status: 'verified', group_id: group })
  })

  test('fails when the upstream responds 410', async () => {
    const { poll, vendor, ask, clock } = await createTask()
    await ask(vendor.callback())
    await clock.pass(1_000)
    vendor.instead = () => Response.json({ ResponseMetadata: { Error: { Code: 'Gone' } } }, { status: 410 })
    expect((await poll()).json.status).toBe('failed')
  })

  test('keeps its status when the upstream fails; the caller gets the upstream’s status and body', async () => {
    for (const isExpired of [false, true]) {
      const { id, poll, vendor, ask, store, clock } = await createTask()
      await ask(vendor.callback())
      await clock.pass(isExpired ? 2_000_000 : 1_000)
      for (const status of [401, 403, 429, 500, 503]) {
        vendor.instead = () =>
          new Response(`{ "say": ${status} }`, { status, headers: { 'content-type': 'application/json' } })
        expect(await poll()).toMatchObject({ status, text: `{ "say": ${status} }` })
      }
      vendor.instead = down
      expect(await poll()).toMatchObject({
        status: 502,
        json: { error: { message: 'Seedance upstream unavailable', type: 'media_proxy_error' } },
      })
      vendor.instead = () => new Response('<html>')
      expect((await poll()).status).toBe(502)
      expect(await statusOf(store, id)).toBe('resolving')
      vendor.instead = undefined
      vendor.finish()
      expect((await poll()).json.status).toBe('verified')
    }
  })

  test('is not verified by an invalid group id', async () => {
    const { id, poll, vendor, ask, store } = await createTask()
    vendor.finish('a group/../id')
    await ask(vendor.callback())
    expect((await poll()).status).toBe(502)
    expect(await statusOf(store, id)).toBe('resolving')
  })

  test('whose group belongs to another user gets 500 without the group, and fails after the expiry', async () => {
    const { id, poll, vendor, ask, store, lines, clock } = await createTask()
    const { group, callback } = vendor.finish('group-of-bob')
    await store.adoptGroup({ id: group, user: 'bob', type: 'LivenessFace', name: 'Bob', createdAt: 1 })
    await ask(callback)
    for (let round = 0; round < 2; round++) {
      const { status, json, text } = await poll()
      expect([status, json.success]).toEqual([500, false])
      expect(text).not.toContain(group)
      expect(await statusOf(store, id)).toBe('resolving')
    }
    expect(await store.group(group)).toMatchObject({ user: 'bob' })
    expect(lines.some((line) => line.startsWith('error') && line.includes(group))).toBeTrue()
    await clock.pass(1_800_000)
    expect((await poll()).status).toBe(500)
    expect((await poll()).json).toEqual({ verification_id: id, status: 'failed' })
  })

  test('whose callback was lost is resolving, not waiting_user, when its group belongs to another user', async () => {
    const { id, poll, vendor, store, clock } = await createTask()
    const { group } = vendor.finish('group-of-bob')
    await store.adoptGroup({ id: group, user: 'bob', type: 'LivenessFace', name: 'Bob', createdAt: 1 })
    store.moveVerification = rejectFailed(store.moveVerification)
    await clock.pass(1_800_000)
    expect((await poll()).status).toBe(500)
    expect(await statusOf(store, id)).toBe('resolving')
  })

  test('whose group the creator owns already is verified with that group', async () => {
    const { poll, vendor, ask, store } = await createTask()
    const { group, callback } = vendor.finish('group-of-ann')
    await store.adoptGroup({ id: group, user: 'ann', type: 'LivenessFace', name: 'Me', createdAt: 1 })
    await ask(callback)
    expect((await poll()).json.group_id).toBe(group)
    expect(await store.groupsOf('ann')).toMatchObject([{ name: 'Me' }])
  })

  test('gives its group a numbered name when the name of the minute is taken', async () => {
    const { ann, vendor, ask, store } = await openFixture()
    for (let round = 0; round < 3; round++) {
      await ann.create()
      await ask(vendor.finish(`group-${round}`).callback)
    }
    const names = (await store.groupsOf('ann')).map(({ name }) => name)
    expect(names.sort()).toEqual(['Face 1970-01-01 00:16', 'Face 1970-01-01 00:16 (2)', 'Face 1970-01-01 00:16 (3)'])
  })

  test('is returned as stored when the gateway’s own rate limit prevents a poll', async () => {
    const vendor = new Vendor()
    const { log } = keptLog()
    const limits = { perSecond: { GetVisualValidateResult: 1 }, queueMs: 1 }
    const { ann, ask, clock } = await openFixture({ upstream: vendor.upstream({ limits, log }) })
    const first = (await ann.create()).json.verification_id
    const firstCallback = vendor.callback()
    const second = (await ann.create()).json.verification_id
    await Promise.all([ask(firstCallback), ask(vendor.callback())])
    await clock.pass(1_000)
    const replies = await Promise.all([ann.query(first), ann.query(second)])
    expect(replies.map(({ status, json }) => [status, json.status])).toEqual([
      [200, 'resolving'],
      [200, 'resolving'],
    ])
    expect(vendor.callsTo().length).toBe(1)
  })
})

describe('a caller who is not the creator', () => {
  test('gets the same 404, byte for byte, for every id, without a request to the upstream', async () => {
    const { id, bob, ann, vendor, ask } = await createTask()
    await ask(vendor.callback())
    const callCount = vendor.calls.length
    const replies = [
      await bob.query(id),
      await bob.query('none'),
      await ann.query('00000000-0000-4000-8000-000000000000'),
      await ann.query(`${id}%00`),
      await ann.query('..%2F..%2Fproxy'),
      await ann.query('%zz'),
      await ann.query('callback'),
      await ann.query('x'.repeat(2_000)),
    ]
    for (const { status, text, headers } of replies) {
      expect([status, text]).toEqual([
        404,
        '{"success":false,"error":{"message":"verification not found","type":"media_proxy_error"}}',
      ])
      expect([...headers]).toEqual([...(replies[0]?.headers ?? [])])
    }
    expect(vendor.calls.length).toBe(callCount)
  })

  test('gets 404 for a task of the other kind', async () => {
    const { id, store } = await createTask()
    const { ann, restUpstream } = await openFixture({ kind: 'rest', store })
    expect((await ann.query(id)).status).toBe(404)
    expect(restUpstream.calls).toEqual([])
  })
})

/** A store that rejects every move to `failed`. */
const rejectFailed =
  (move: FaceStore['moveVerification']): FaceStore['moveVerification'] =>
  async (id, path, change) => {
    if (path.at(-1) === 'failed') throw new Error('away')
    return move(id, path, change)
  }
