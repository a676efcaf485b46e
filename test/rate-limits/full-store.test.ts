import { describe, expect, test } from 'bun:test'
import {
  memoryRateLimitStore,
  type Operation,
  type RateLimitStore,
  UpstreamBusyError,
} from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, failure, json, startScriptedUpstream } from '../upstream-proxy/scripted-upstream.ts'

const ok = json('{"Result":{"Id":"x"}}')
const read = (id: string): Operation => ({ action: 'GetAsset', id })
const create: Operation = { action: 'CreateAssetGroup', body: bodyOf('{}') }

/** No time passes, so a used slot stays occupied. */
const still = { now: () => 1_000_000_000_000, at: () => () => {} }

/** A store that has no room, or room. It records which methods have succeeded. */
const openStore = (code = 'ENOSPC') => {
  const memory = memoryRateLimitStore()
  const state = { hasRoom: false, succeeded: [] as (keyof RateLimitStore)[] }
  const bounded =
    <Given extends readonly unknown[], Result>(name: keyof RateLimitStore, act: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      if (!state.hasRoom) throw Object.assign(new Error('not written'), { code })
      state.succeeded.push(name)
      return act(...given)
    }
  const store: RateLimitStore = {
    take: bounded('take', memory.take),
    takeInTurn: bounded('takeInTurn', memory.takeInTurn),
    release: bounded('release', memory.release),
    delayUntil: bounded('delayUntil', memory.delayUntil),
  }
  return { store, state }
}

describe('while the store of the slots has no room', () => {
  test('reading goes on, within the limit of this process', async () => {
    const { store } = openStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 2 }, store, queueMs: 0 }, clock: still })
    expect((await send(read('a'))).status).toBe(200)
    expect((await send(read('b'))).status).toBe(200)
    expect(await failure(send(read('c')))).toMatchObject({ status: 429 })
    expect(upstream.seen).toHaveLength(2)
  })

  test('a 429 of the upstream blocks the slots of this process', async () => {
    const { store } = openStore()
    await using upstream = await startScriptedUpstream(json('{}', 429, { 'retry-after': '2' }), ok)
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 2 }, store, queueMs: 0 }, clock: still })
    await failure(send(read('a')))
    expect(await failure(send(read('b')))).toBeInstanceOf(UpstreamBusyError)
    expect(upstream.seen).toHaveLength(1)
  })

  test('a change is a 503, and is not sent', async () => {
    const { store } = openStore()
    await using upstream = await startScriptedUpstream(ok)
    const { send } = upstream.upstream({ limits: { perSecond: { CreateAssetGroup: 5 }, store } })
    expect(await failure(send(create))).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    expect(upstream.seen).toEqual([])
  })

  test('a slot in memory is not released in the store, which counts again as soon as it has room', async () => {
    const { store, state } = openStore()
    await using upstream = await startScriptedUpstream((response) => {
      state.hasRoom = true
      ok(response)
    })
    const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 5 }, store } })
    await send(read('a'))
    expect(state.succeeded).toEqual([])
    await send(read('b'))
    expect(state.succeeded).toContain('release')
  })
})

test('reading fails while the store fails for another reason: other processes may use the slots', async () => {
  const { store } = openStore('ECONNREFUSED')
  await using upstream = await startScriptedUpstream(ok)
  const { send } = upstream.upstream({ limits: { perSecond: { GetAsset: 5 }, store } })
  expect(await failure(send(read('a')))).toMatchObject({ status: 500 })
  expect(upstream.seen).toEqual([])
})
