import { expect, test } from 'bun:test'
import { createUpstreamStates } from '../../src/app/upstreams/states.ts'

test('each upstream has the state of its latest call, and those of text generation the best of theirs', () => {
  const states = createUpstreamStates({ assets: false, texts: ['one', 'two'], video: false })
  const all = () => {
    const { video, ...others } = states.all()
    return Object.values(others)
  }
  expect(states.all()).toEqual({
    assets: 'not configured',
    text: 'not called yet',
    video: 'not configured',
    'text one': 'not called yet',
    'text two': 'not called yet',
  })
  states.text('one', { status: 0, keyRejected: false })
  expect(all()).toEqual(['not configured', 'not called yet', 'unreachable', 'not called yet'])
  states.text('two', { status: 403, keyRejected: true })
  expect(all()).toEqual(['not configured', "rejects the gateway's key", 'unreachable', "rejects the gateway's key"])
  states.text('one', { status: 503, keyRejected: false })
  expect(all()).toEqual(['not configured', 'reachable', 'reachable', "rejects the gateway's key"])
  const library = createUpstreamStates({ assets: true, texts: [], video: true })
  library.assets(200)
  expect(library.all()).toEqual({ assets: 'reachable', text: 'not configured', video: 'not called yet' })
  library.assets(401)
  library.video({ status: 401, keyRejected: true })
  expect(library.all()).toEqual({
    assets: "rejects the gateway's key",
    text: 'not configured',
    video: "rejects the gateway's key",
  })
  library.video({ status: 0, keyRejected: false })
  expect(library.all().video).toBe('unreachable')
})

test('a report has the calls and errors of the last minute, the time of the state, and the last error', () => {
  let now = Date.UTC(2027, 0, 1)
  const states = createUpstreamStates({ assets: true, texts: ['one'], video: false }, { now: () => now })
  const report = () => states.reports()[1]
  expect(states.reports()[0]).toEqual({
    name: 'assets',
    family: 'assets',
    state: 'not called yet',
    calls: 0,
    errors: 0,
  })
  for (const status of [200, 404, 429, 500, 0]) states.text('one', { status, keyRejected: false })
  const first = now
  expect(report()).toEqual({
    ...{ name: 'text one', family: 'text', state: 'unreachable', since: first, lastError: { at: first, status: 0 } },
    ...{ calls: 5, errors: 2 },
  })
  now += 30_000
  states.text('one', { status: 200, keyRejected: false })
  states.text('one', { status: 401, keyRejected: true })
  expect(report()).toMatchObject({ state: "rejects the gateway's key", since: now, calls: 7, errors: 3 })
  now += 30_000
  expect(report()).toMatchObject({ calls: 2, errors: 1, lastError: { status: 401 } })
  now += 86_400_000
  expect(report()).toMatchObject({ calls: 0, errors: 0, since: first + 30_000 })
})
