import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Emulator, type Fault, startEmulator } from '../../src/emulator/index.ts'
import { chat, clientOf, MODEL } from './text-client.ts'

/** A `sleep` whose time passes only when the test calls `pass`. */
const createManualSleep = () => {
  const waiting: (() => void)[] = []
  let requestedMs = 0
  return {
    requestedMs: () => requestedMs,
    pass: () => waiting.splice(0).forEach((resolve) => void resolve()),
    sleep: (ms: number) => {
      requestedMs += ms
      return new Promise<void>((resolve) => waiting.push(resolve))
    },
    waits: async () => {
      while (waiting.length === 0) await tick()
    },
  }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

let emulator: Emulator
let sleeper: ReturnType<typeof createManualSleep>

beforeEach(async () => {
  sleeper = createManualSleep()
  emulator = await startEmulator({ text: { msPerDelta: 10, sleep: sleeper.sleep } })
})
afterEach(() => emulator.stop())

const startCall = (path: string, body: object) => {
  const controller = new AbortController()
  const response = fetch(emulator.text.url + path, {
    ...{ method: 'POST', body: JSON.stringify(body), signal: controller.signal },
    headers: { authorization: `Bearer ${emulator.text.key}`, 'content-type': 'application/json' },
  })
  response.catch(() => undefined)
  return { disconnect: () => controller.abort(), response }
}
const disconnectRecorded = async () => {
  while (!emulator.calls[0]?.aborted) await tick()
}

describe('pace', () => {
  test('each delta is sent after its time', async () => {
    const { response } = startCall('/chat/completions', chat('hi', { stream: true, max_tokens: 3 }))
    const reader = (await response).body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await read()).toContain('"role":"assistant"')
    for (const word of ['You', ' wrot', 'e']) {
      await sleeper.waits()
      sleeper.pass()
      expect(await read()).toContain(`"content":"${word}"`)
    }
    expect(sleeper.requestedMs()).toBe(30)
  })

  test('a non-streaming response takes the time of all its tokens', async () => {
    const { response } = startCall('/responses', { model: MODEL, input: 'hi', max_output_tokens: 7 })
    await sleeper.waits()
    expect(sleeper.requestedMs()).toBe(70)
    expect(emulator.calls[0]?.status).toBeUndefined()
    sleeper.pass()
    expect((await response).status).toBe(200)
  })
})

describe('a disconnect of the caller is recorded at once', () => {
  const STREAMS = [
    ['/chat/completions', chat('hi', { stream: true })],
    ['/responses', { model: MODEL, input: 'hi', stream: true }],
  ] as const
  for (const [path, body] of STREAMS) {
    test(`${path}: between two deltas, and generation stops`, async () => {
      const { response, disconnect } = startCall(path, body)
      await response
      await sleeper.waits()
      disconnect()
      await disconnectRecorded()
      const before = sleeper.requestedMs()
      sleeper.pass()
      await tick()
      expect(sleeper.requestedMs()).toBe(before)
      expect(emulator.calls[0]).toMatchObject({ status: 200, aborted: true })
    })

    const FAULTS: readonly Fault[] = [
      { kind: 'hang' },
      { kind: 'hold' },
      { kind: 'hold', when: 'after' },
      { kind: 'silence', events: 'headers' },
      { kind: 'silence' },
      { kind: 'silence', events: 1 },
      { kind: 'delay', ms: 3_600_000 },
    ]
    for (const fault of FAULTS) {
      test(`${path}: during ${JSON.stringify(fault)}`, async () => {
        const { disconnect } = startCall(path, body)
        const handle = emulator.faults.add(fault)
        await handle.waitForHits()
        disconnect()
        await disconnectRecorded()
      })
    }

    test(`${path}: while a non-streaming response is generated`, async () => {
      const { disconnect } = startCall(path, { ...body, stream: false })
      await sleeper.waits()
      disconnect()
      await disconnectRecorded()
      expect(emulator.calls[0]?.status).toBeUndefined()
    })
  }

  test('the generator of its response is closed, and so are all generators when the emulator stops', async () => {
    let closed = 0
    const script = () => ({
      chunks: (function* () {
        try {
          yield 'x'
          yield { wait: new Promise(() => {}) }
        } finally {
          closed++
        }
      })(),
    })
    emulator.text.respondWith(script, { times: 2 })
    const [first, second] = STREAMS.map(([path, body]) => startCall(path, body))
    await Promise.all([first?.response, second?.response])
    first?.disconnect()
    while (closed < 1) await tick()
    await emulator.stop()
    while (closed < 2) await tick()
    await expect(second?.response.then((response) => response.text())).rejects.toThrow()
  })

  test('when the official client stops reading a stream', async () => {
    const stream = await clientOf(emulator).chat.completions.create({
      ...{ model: MODEL, messages: [{ role: 'user', content: 'hi' }], stream: true },
    })
    for await (const _ of stream) break
    await disconnectRecorded()
  })

  test('no disconnect is recorded for a complete response', async () => {
    for (const [path, body] of STREAMS) {
      const { response } = startCall(path, { ...body, max_tokens: 1, max_output_tokens: 1 })
      const text = (await response).text()
      await sleeper.waits()
      sleeper.pass()
      expect(await text).toContain('data:')
    }
    await tick()
    expect(emulator.calls.map((call) => call.aborted)).toEqual([undefined, undefined])
  })

  test('stop ends calls that stream, wait or stall', async () => {
    emulator.faults.add({ kind: 'silence', events: 2 })
    const responses = [1, 2].map((_, index) => startCall('/chat/completions', STREAMS[index === 0 ? 0 : 1][1]).response)
    await Promise.race(responses)
    await sleeper.waits()
    await emulator.stop()
    expect(
      await Promise.all(responses.map((response) => response.then((one) => one.text()).catch(() => 'gone'))),
    ).toContain('gone')
    emulator = await startEmulator()
  })
})
