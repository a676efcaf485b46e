import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type EventsOptions, events } from '../../plugins/events/index.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import type { Database } from '../../src/store/database/database.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { forget, happen, newUser, openDatabase, readStream } from './fixture.ts'

repeatOnDatabases('an event stream', (tested) => {
  let store: Store
  let other: Database
  beforeAll(async () => {
    store = await tested.open()
    other = openDatabase(tested)
  })
  afterAll(() => other.close())

  const appOf = (options: Partial<EventsOptions> = {}) =>
    events({
      store,
      everyMs: 10,
      identify: (request) => {
        const user = request.headers.get('x-user')
        return user === null ? undefined : { user }
      },
      ...options,
    })
  const ask = (app: ReturnType<typeof appOf>, user: string, { query = '', lastEventId = '' } = {}) =>
    app.handle(
      new Request(`http://localhost/api/events${query}`, {
        headers: { 'x-user': user, ...(lastEventId && { 'last-event-id': lastEventId }) },
      }),
    )
  const open = async (user: string, options: Parameters<typeof ask>[2] = {}, app = appOf()) =>
    readStream(await ask(app, user, options))

  test('has the events of its user, with headers that keep proxies from buffering', async () => {
    const [ann, bob] = [newUser(), newUser()]
    await happen(other, ann, 'video.queued')
    const response = await ask(appOf(), ann)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    const stream = readStream(response)
    const start = await stream.next()
    expect(start).toMatchObject({ type: 'stream.start', id: expect.stringMatching(/^evt_/) })
    expect(start?.text).toContain('retry: ')
    await happen(other, bob, 'video.failed')
    await happen(other, ann, 'video.running', {
      data: '{"id":"cgt-1",\r\n\n "status":"running"}',
      at: 1_700_000_000_000,
    })
    expect(await stream.next()).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'video.running',
      data: {
        type: 'video.running',
        timestamp: '2023-11-14T22:13:20.000Z',
        data: { id: 'cgt-1', status: 'running' },
      },
    })
    await stream.close()
  })

  test('delivers an event of any size while it waits for the next one', async () => {
    const ann = newUser()
    const stream = await open(ann)
    await happen(other, ann, 'video.failed')
    expect(await stream.types(2)).toEqual(['stream.start', 'video.failed'])
    await happen(other, ann, 'video.queued', { data: JSON.stringify({ text: 'x'.repeat(100_000) }) })
    expect(await stream.types(1)).toEqual(['video.queued'])
    await happen(other, ann, 'video.running')
    expect(await stream.types(1)).toEqual(['video.running'])
    await stream.close()
  })

  test('continues after the last event that the client has received, or after the start', async () => {
    const ann = newUser()
    const first = await open(ann)
    const start = await first.next()
    expect(start?.id).toBe('start')
    await first.close()
    for (const type of ['video.queued', 'video.running', 'video.succeeded']) await happen(other, ann, type)
    const all = await open(ann, { lastEventId: 'start' })
    expect(await all.types(2)).toEqual(['stream.start', 'video.queued'])
    const running = await all.next()
    await all.close()
    const rest = await open(ann, { lastEventId: running?.id })
    expect(await rest.types(2)).toEqual(['stream.start', 'video.succeeded'])
    await happen(other, ann, 'video.deleted')
    expect(await rest.types(1)).toEqual(['video.deleted'])
    await rest.close()
    const byQuery = await open(ann, { query: `?last_event_id=${running?.id}` })
    expect(await byQuery.types(3)).toEqual(['stream.start', 'video.succeeded', 'video.deleted'])
    await byQuery.close()
  })

  test('tells that events may be missing, and has all that are left', async () => {
    const [ann, bob] = [newUser(), newUser()]
    await happen(other, ann, 'video.queued')
    const gone = await open(ann)
    const { id = '' } = (await gone.next()) ?? {}
    await gone.close()
    await happen(other, ann, 'video.running', { at: Date.now() })
    for (const [user, lastEventId] of [
      [bob, id],
      [ann, 'evt_unknown'],
      [ann, `evt_${'x'.repeat(1000)}`],
    ] as const) {
      const stream = await open(user, { lastEventId })
      expect([user === ann, await stream.types(1)]).toEqual([user === ann, ['stream.gap']])
      if (user === ann) expect(await stream.types(2)).toEqual(['video.queued', 'video.running'])
      await stream.close()
    }
    await forget(other, ann)
    const forgotten = await open(ann, { lastEventId: id })
    expect(await forgotten.next()).toMatchObject({ type: 'stream.gap', id: 'start' })
    await forgotten.close()
  })

  test('leaves out the types that the client does not want, and lets it resume after them', async () => {
    const ann = newUser()
    const app = appOf({ heartbeatMs: 40 })
    const stream = await open(ann, { query: '?types=asset.*,video.succeeded' }, app)
    await stream.next()
    await happen(other, ann, 'video.queued')
    const beat = await (async () => {
      for (;;) {
        const frame = await stream.next()
        if (frame?.type !== undefined || frame?.id !== undefined) return frame
      }
    })()
    expect(beat).toMatchObject({ type: undefined, data: undefined, id: expect.stringMatching(/^evt_/) })
    await happen(other, ann, 'video.running')
    await happen(other, ann, 'asset.active')
    await happen(other, ann, 'video.succeeded')
    const types: (string | undefined)[] = []
    while (types.length < 2) {
      const type = (await stream.next())?.type
      if (type) types.push(type)
    }
    expect(types).toEqual(['asset.active', 'video.succeeded'])
    await stream.close()
    const resumed = await open(ann, { query: '?types=video.succeeded&types=face_verification.*', lastEventId: 'start' })
    expect(await resumed.types(2)).toEqual(['stream.start', 'video.succeeded'])
    await resumed.close()
  })

  test('rejects types that cannot exist', async () => {
    const many = Array.from({ length: 51 }, (_, index) => `video.${'abcdefghij'[index % 10]}${'x'.repeat(index / 10)}`)
    for (const types of [
      '',
      'video',
      '*',
      'Video.queued',
      'video.*.x',
      'video.queued,',
      `a.${'b'.repeat(99)}`,
      `${many}`,
    ]) {
      const response = await ask(appOf(), newUser(), { query: `?types=${types}` })
      expect([types, response.status, await response.json()]).toEqual([
        types,
        400,
        {
          success: false,
          error: {
            message: 'types must be 1 to 50 types of events such as video.succeeded or video.*',
            type: 'request_error',
          },
        },
      ])
    }
  })

  test('of a client that reads slowly: its memory is bounded, and it receives every event once', async () => {
    const ann = newUser()
    const stream = await open(ann)
    await stream.next()
    const data = JSON.stringify({ text: 'x'.repeat(10_000) })
    for (let round = 0; round < 40; round++) await happen(other, ann, 'video.queued', { data, at: round })
    // The hub reads them all while the client reads nothing.
    await new Promise((resolve) => setTimeout(resolve, 100))
    const times: string[] = []
    while (times.length < 40) times.push((await stream.next())?.data ? `${times.length}` : 'none')
    await happen(other, ann, 'video.failed')
    expect(await stream.types(1)).toEqual(['video.failed'])
    expect(times).toEqual(Array.from({ length: 40 }, (_, index) => `${index}`))
    await stream.close()
  })

  test('misses nothing while the client resumes and others write', async () => {
    const ann = newUser()
    const app = appOf({ everyMs: 1 })
    let writing = true
    const writers = (async () => {
      for (let count = 0; count < 150; count++) await happen(other, ann, 'video.queued', { data: `{"count":${count}}` })
      writing = false
    })()
    const counts: unknown[] = []
    let lastEventId = 'start'
    while (writing || counts.length < 150) {
      const stream = await open(ann, { lastEventId }, app)
      for (let frames = 0; frames < 12 && counts.length < 150; frames++) {
        const frame = await stream.next()
        if (frame?.type !== 'video.queued') continue
        counts.push((frame.data as { data: { count: number } }).data.count)
        lastEventId = frame.id ?? ''
      }
      await stream.close()
    }
    await writers
    expect(counts).toEqual(Array.from({ length: 150 }, (_, index) => index))
  })

  test('ends when the credential is revoked, and when the server stops', async () => {
    const ann = newUser()
    let revoke = () => {}
    let watched = 0
    const whenRevoked = (listener: () => void) => {
      watched++
      revoke = listener
      return () => void watched--
    }
    const background = new Background()
    const app = appOf({ identify: () => ({ user: ann, whenRevoked }), background })
    const revoked = await open(ann, {}, app)
    await revoked.next()
    revoke()
    expect(await revoked.next()).toMatchObject({ type: 'stream.end', data: { data: { reason: 'not authenticated' } } })
    expect(await revoked.next()).toBeUndefined()
    const stopped = await open(ann, {}, app)
    await stopped.next()
    void background.stop()
    expect(await stopped.types(1)).toEqual(['stream.end'])
    expect(await stopped.next()).toBeUndefined()
    expect(watched).toBe(0)
    expect(await (await open(ann, {}, app)).types(1)).toEqual(['stream.end'])
  })

  test('counts for its user until it ends', async () => {
    const [ann, bob] = [newUser(), newUser()]
    const app = appOf({ maxStreams: 2 })
    const streams = [await open(ann, {}, app), await open(ann, {}, app)]
    const rejected = await ask(app, ann)
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await rejected.json()).toMatchObject({
      error: { message: 'there are 2 event streams of this user already' },
    })
    await (await open(bob, {}, app)).close()
    await streams[0]?.close()
    const next = await open(ann, {}, app)
    expect(await next.types(1)).toEqual(['stream.start'])
    await next.close()
    const unread = new AbortController()
    await app.handle(new Request('http://localhost/api/events', { headers: { 'x-user': ann }, signal: unread.signal }))
    expect((await ask(app, ann)).status).toBe(429)
    unread.abort()
    const last = await open(ann, {}, app)
    expect(await last.types(1)).toEqual(['stream.start'])
    await last.close()
    await streams[1]?.close()
  })

  test('is rejected without a caller', async () => {
    const response = await appOf().handle(new Request('http://localhost/api/events'))
    expect([response.status, await response.json()]).toMatchObject([401, { error: { message: 'not authenticated' } }])
  })
})
