import { expect, test } from 'bun:test'
import { signalOf } from '../../plugins/shared/background.ts'

test('background work runs until its signal aborts, always with true, and never without either', () => {
  const stopping = new AbortController()
  const signal = signalOf(stopping.signal)
  expect(signal?.aborted).toBe(false)
  stopping.abort()
  expect(signal?.aborted).toBe(true)
  expect(signalOf(true)?.aborted).toBe(false)
  expect(signalOf(undefined)).toBeUndefined()
})
