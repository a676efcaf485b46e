import { describe, expect, test } from 'bun:test'
import { settled } from '../support/virtual-clock.ts'
import { chunk, openApp, streaming } from './fixture.ts'

const messages = [{ role: 'user', content: 'hi' }]
const patience = async () => {
  for (let turn = 0; turn < 30; turn++) await settled()
}

describe('the upstream call is aborted when the caller disconnects', () => {
  for (const stream of [true, false]) {
    test(`before the response (${stream ? 'stream' : 'no stream'})`, async () => {
      const leaving = new AbortController()
      const observed: object[] = []
      const app = openApp(
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          }),
        { observe: (call) => void observed.push(call) },
      )
      const answering = app.post('/chat/completions', { model: 'm', messages, stream }, { signal: leaving.signal })
      await patience()
      leaving.abort()
      await answering.catch(() => {})
      expect(app.asked.map(({ signal }) => signal.aborted)).toEqual([true])
      expect(app.usage).toHaveLength(1)
      // The upstream is not unreachable.
      expect(observed).toEqual([])
    })
  }

  test('before the first event of a stream', async () => {
    const leaving = new AbortController()
    const app = openApp(({ signal }) => streaming([], 'stall', signal))
    const answering = app.post('/chat/completions', { model: 'm', messages, stream: true }, { signal: leaving.signal })
    await patience()
    leaving.abort()
    await answering.catch(() => {})
    expect(app.asked[0]?.signal.aborted).toBe(true)
  })

  test('during the assembly of a response', async () => {
    const leaving = new AbortController()
    const app = openApp(({ signal }) => streaming([chunk({ content: 'x' })], 'stall', signal))
    const answering = app.post('/chat/completions', { model: 'm', messages }, { signal: leaving.signal })
    await patience()
    leaving.abort()
    await answering.catch(() => {})
    expect(app.asked[0]?.signal.aborted).toBe(true)
    expect(app.usage).toHaveLength(1)
  })

  for (const how of ['cancels', 'aborts'] as const) {
    test(`during a stream, when the client ${how}`, async () => {
      const leaving = new AbortController()
      const app = openApp(({ signal }) => streaming([chunk({ content: 'x' })], 'stall', signal))
      const response = await app.post(
        '/chat/completions',
        { model: 'm', messages, stream: true },
        { signal: leaving.signal },
      )
      const reader = response.body?.getReader()
      await reader?.read()
      const pending = reader?.read().catch(() => {})
      await patience()
      if (how === 'cancels') await reader?.cancel()
      else leaving.abort()
      await pending
      expect(app.asked[0]?.signal.aborted).toBe(true)
      await patience()
      expect(app.usage).toHaveLength(1)
    })
  }
})
