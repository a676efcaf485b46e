import { describe, expect, test } from 'bun:test'
import {
  memoryRateLimitStore,
  type Operation,
  type RateLimitStore,
  UpstreamBusyError,
} from '../../plugins/upstream-proxy/index.ts'
import { QueueTime } from '../../plugins/upstream-proxy/rate-limit/queue-time.ts'
import { bodyOf, failure, json, reset, startScriptedUpstream } from '../upstream-proxy/scripted-upstream.ts'

const ok = json('{"Result":{"Id":"x"}}')
const read = (id: string): Operation => ({ action: 'GetAsset', id })
const find: Operation = { action: 'FindAssetGroups', groupType: 'AIGC', name: 'n' }
const create: Operation = { action: 'CreateAssetGroup', body: bodyOf('{}') }

/** A rate limit store that records its calls. */
const recordingStore = (): { readonly store: RateLimitStore; readonly calls: string[] } => {
  const memory = memoryRateLimitStore()
  const calls: string[] = []
  const recorded =
    <Given extends readonly unknown[], Result>(act: (...given: Given) => Result, what: (...given: Given) => string) =>
    (...given: Given): Result => {
      calls.push(what(...given))
      return act(...given)
    }
  const store = {
    take: recorded(memory.take, (wanted) => `take ${wanted.action} for ${wanted.user}`),
    takeInTurn: recorded(memory.takeInTurn, (wanted) => `turn ${wanted.action} for ${wanted.user}`),
    release: recorded(memory.release, (permit) => `free ${permit.action}`),
    delayUntil: recorded(memory.delayUntil, (action) => `slow ${action}`),
  }
  return { calls, store }
}

describe('an action with a rate limit', () => {
  test('takes and returns a permit for each call, with two calls to the store', async () => {
    const { store, calls } = recordingStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 5 }, store } })
    await send(read('warm'), { user: 'ann' })
    calls.length = 0
    await send(read('a'), { user: 'ann' })
    expect(calls).toEqual(['take GetAsset for ann', 'free GetAsset'])
  })

  test('does not affect other actions: they do not call the store', async () => {
    const { store, calls } = recordingStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 5 }, store } })
    for (let call = 0; call < 20; call++) await send(create)
    expect(calls).toEqual([])
  })

  test('limits the wait of each caller of a shared call separately', async () => {
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 5 }, queueMs: 5_000 } })
    await Promise.all(Array.from({ length: 5 }, (_, nth) => send(read(`warm ${nth}`))))
    const queueTime = new QueueTime()
    queueTime.begin(0)
    queueTime.end(5_000)
    const [impatient, patient] = await Promise.allSettled([
      send(read('a'), { user: 'ann', queueTime }),
      send(read('a'), { user: 'bob', queueTime: new QueueTime() }),
    ])
    expect(impatient).toMatchObject({ status: 'rejected', reason: { status: 429 } })
    expect(patient.status).toBe('fulfilled')
  })

  test('rejects a call when its queue is too long, before sending it', async () => {
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { CreateAssetGroup: 1 }, queueMs: 0 } })
    await send(create)
    const rejected = await failure(send(create))
    expect(rejected).toBeInstanceOf(UpstreamBusyError)
    expect(rejected).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^[12]$/) } })
    expect(upstream.seen).toHaveLength(1)
  })

  test('counts the search for groups as a list of groups', async () => {
    const { store, calls } = recordingStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { ListAssetGroups: 1 }, store } })
    await send(find)
    expect(calls).toContain('take ListAssetGroups for ')
  })

  test('takes a second permit for a retry', async () => {
    const { store, calls } = recordingStore()
    await using upstream = await startScriptedUpstream(reset, ok)
    const { send } = upstream.upstream({ limits: { perSecond: { ListAssetGroups: 2 }, store } })
    expect((await send(find)).status).toBe(200)
    expect(calls.filter((what) => what.startsWith('free'))).toHaveLength(2)
  })

  test('returns the permit unused when it sends nothing', async () => {
    const { store } = recordingStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 1 }, store, queueMs: 0 } })
    for (let call = 0; call < 3; call++) expect(await failure(send(read('..')))).toMatchObject({ status: 404 })
    expect((await send(read('a'))).status).toBe(200)
  })

  test('starts the timeout when it has its permit', async () => {
    await using upstream = await startScriptedUpstream(ok, (response) => setTimeout(() => ok(response), 150))
    const { send } = upstream.upstream({ timeoutMs: 400, limits: { perSecond: { CreateAssetGroup: 2.5 } } })
    const calls = await Promise.all([send(create), send(create), send(create)])
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('slows down after a 429 of the upstream, which the caller receives unchanged', async () => {
    for (const retryAfter of ['2', new Date(Date.now() + 2_900).toUTCString()]) {
      const { store, calls } = recordingStore()
      const body = '{"ResponseMetadata":{"Error":{"Code":"RateLimitExceeded"}}}'
      await using upstream = await startScriptedUpstream(json(body, 429, { 'retry-after': retryAfter }), ok)
      const { send } = upstream.upstream({
        limits: { perSecond: { CreateAssetGroup: 5 }, queueMs: 500, store },
      })
      const rejected = (await failure(send(create))) as UpstreamBusyError
      const response = rejected.toResponse()
      expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
        429,
        retryAfter,
        body,
      ])
      expect(calls).toContain('slow CreateAssetGroup')
      expect(await failure(send(create))).toBeInstanceOf(UpstreamBusyError)
      expect(upstream.seen).toHaveLength(1)
    }
  })

  test('does not slow down after a 429 without Retry-After', async () => {
    const { store, calls } = recordingStore()
    await using upstream = await startScriptedUpstream(json('{}', 429), ok)
    const { send } = upstream.upstream({ limits: { perSecond: { CreateAssetGroup: 5 }, store } })
    await failure(send(create))
    expect((await send(create)).status).toBe(200)
    expect(calls.filter((what) => what.startsWith('slow'))).toEqual([])
  })

  test('never sends a call whose caller has disconnected in the queue', async () => {
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { CreateAssetGroup: 1 } } })
    await send(create)
    const leaving = new AbortController()
    const waiting = failure(send(create, { signal: leaving.signal }))
    leaving.abort()
    expect(await waiting).toMatchObject({ status: 502, sent: false })
    expect(upstream.seen).toHaveLength(1)
  })
})
