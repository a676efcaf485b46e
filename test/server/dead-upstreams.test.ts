import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Clock, systemClock } from '../../plugins/shared/clock.ts'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'
import { fetchOnce, fetchPooledPost } from '../../plugins/shared/upstream/fetch.ts'
import type { Fetch } from '../../plugins/shared/upstream/upstream-error.ts'
import type { EmulatorAction } from '../../src/emulator/action-names.ts'
import type { FaultKind } from '../../src/emulator/index.ts'
import { MODEL, text } from '../emulator/video-client.ts'
import { internalDetails, startGateway } from '../support/gateway.ts'

setDefaultTimeout(60_000)

/** An action of each upstream, and a call that needs it. */
const calls = {
  assets: {
    action: 'ListAssets',
    path: '/api/media/proxy/assets?PageSize=10&PageNumber=1',
    failure: { success: false, error: { message: 'Seedance upstream unavailable', type: 'media_proxy_error' } },
  },
  text: {
    action: 'CreateChatCompletion',
    path: '/v1/chat/completions',
    body: { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'x' }] },
    failure: { error: { message: 'upstream unavailable', type: 'server_error', param: null, code: null } },
  },
  video: {
    action: 'CreateVideoTask',
    path: '/api/v3/contents/generations/tasks',
    body: { model: MODEL, content: [text('a cat')] },
    failure: { error: { code: 'UpstreamUnavailable', message: 'upstream unavailable', param: '', type: 'BadGateway' } },
  },
} satisfies Record<string, { action: EmulatorAction; path: string; body?: object; failure: object }>

type Kind = keyof typeof calls

/** How an upstream dies, and how many calls open its circuit. */
const deaths: Readonly<Record<string, { readonly fault: FaultKind; readonly calls: number }>> = {
  'refuses to go on (reset)': { fault: { kind: 'reset-before' }, calls: 5 },
  'stops (frozen)': { fault: { kind: 'hang' }, calls: 5 },
  'has no room (503)': { fault: { kind: 'status', status: 503 }, calls: 20 },
}

/** At its time limit, a chat request without streaming gets what has arrived: here nothing. */
const hasAnswer = ({ status, headers }: Response): boolean => status < 500 && !headers.has('x-upstream-partialresponse')

const open = async ({ textTimeoutMs = 3_000 } = {}) => {
  const time = { now: Date.now() }
  /** It stands, unless a call waits for a time. */
  const clock: Clock = {
    now: () => time.now,
    at: (when, run) =>
      systemClock.at(0, () => {
        time.now = Math.max(time.now, when)
        run()
      }),
  }
  const circuits = createCircuitBreakers({ clock })
  /**
   * Calls that were sent, without the lists that look for a lost video. The emulator may see a read twice: Bun sends it
   * again after a reset.
   */
  const sent = { assets: 0, text: 0, video: 0 }
  const counted = (kind: Kind, fetch: Fetch): Fetch =>
    circuits.wrap((url, init) => {
      if (kind !== 'video' || init.method === 'POST') sent[kind]++
      return fetch(url, init)
    })
  const gateway = await startGateway({
    ...{ circuits, fetch: counted('assets', fetchOnce), timeoutMs: 3_000 },
    text: { fetch: counted('text', fetchPooledPost), timeoutMs: textTimeoutMs },
    video: { fetch: counted('video', fetchOnce), createTimeoutMs: 3_000, settleWaitMs: 1 },
  })
  const user = await gateway.addUser('ann')
  const ask = (kind: Kind, headers: Readonly<Record<string, string>> = {}) => {
    const { path, ...call } = calls[kind]
    return fetch(gateway.url + path, {
      method: 'body' in call ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...headers },
      ...('body' in call && { body: JSON.stringify(call.body) }),
    })
  }
  const group = await user.ask('POST', '/assets/groups', { Name: 'a' })
  expect(group.status).toBe(200)
  return { gateway, circuits, time, user, ask, sent }
}

describe.each(Object.keys(calls) as Kind[])('an upstream of %s', (kind) => {
  const { action, failure } = calls[kind]
  const others = (Object.keys(calls) as Kind[]).filter((other) => other !== kind)

  test.each(Object.entries(deaths))('that %s is left alone, and used again when it is back', async (_, death) => {
    const { gateway, circuits, time, user, ask, sent } = await open()
    await using _gateway = gateway
    const { emulator } = gateway
    const statusOf = async (asked: Kind) => (await ask(asked)).status
    expect(await statusOf(kind)).toBe(200)
    emulator.faults.add({ ...death.fault, action, times: Number.POSITIVE_INFINITY })
    const failed = await Promise.all(Array.from({ length: death.calls }, () => ask(kind)))
    expect(failed.filter(hasAnswer)).toEqual([])
    expect(circuits.counts().open).toBe(1)

    const before = sent[kind]
    const refused = await Promise.all(Array.from({ length: 100 }, () => ask(kind)))
    for (const response of refused) {
      expect([response.status, response.headers.get('retry-after')]).toEqual([502, '1'])
      const body = await response.text()
      expect(JSON.parse(body)).toEqual(failure)
      expect(body).not.toMatch(internalDetails)
    }
    expect(sent[kind]).toBe(before)
    // Other upstreams, other actions of this one, and what needs none, work.
    for (const other of others) expect(await statusOf(other)).toBe(200)
    expect((await user.ask('GET', '/assets/groups?PageSize=10&PageNumber=1')).status).toBe(200)
    const ready = await fetch(`${gateway.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([200, { circuits: { open: 1, 'half-open': 0 } }])

    const earlier = sent[kind]
    time.now += 1_000
    const tried = await Promise.all(Array.from({ length: 100 }, () => ask(kind)))
    expect(sent[kind]).toBe(earlier + 1)
    expect(tried.filter(hasAnswer)).toEqual([])
    expect(circuits.counts().refused).toBeGreaterThanOrEqual(199)

    emulator.faults.clear()
    time.now += 2_000
    expect(await statusOf(kind)).toBe(200)
    expect(await Promise.all(Array.from({ length: 20 }, () => statusOf(kind)))).toEqual(Array(20).fill(200))
    expect(circuits.counts()).toMatchObject({ open: 0, 'half-open': 0 })
  })
})

test('time limits that a client has set, and its wrong requests, open no circuit', async () => {
  const { gateway, circuits, user, ask } = await open({ textTimeoutMs: 200_000 })
  await using _gateway = gateway
  const held = gateway.emulator.faults.add({ kind: 'hang', action: 'CreateChatCompletion', times: 10 })
  // The header in which the client library of OpenAI sends its time limit, in seconds.
  const impatient = await Promise.all(Array.from({ length: 10 }, () => ask('text', { 'x-stainless-timeout': '0.2' })))
  expect(impatient.filter(hasAnswer)).toEqual([])
  expect(held.hits).toBe(10)
  expect((await ask('text')).status).toBe(200)
  gateway.emulator.faults.add({ kind: 'status', status: 400, action: 'ListAssets', times: 30 })
  for (let at = 0; at < 30; at++) expect((await ask('assets')).status).toBe(400)
  expect((await ask('assets')).status).toBe(200)
  expect((await user.ask('GET', '/assets?PageSize=10&PageNumber=1')).status).toBe(200)
  expect(circuits.counts()).toMatchObject({ open: 0, 'half-open': 0, refused: 0 })
})
