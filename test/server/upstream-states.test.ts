import { expect, test } from 'bun:test'
import { createUpstreamStates } from '../../src/app/upstream-states.ts'

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
