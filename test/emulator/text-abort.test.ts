import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Emulator, type Fault, startEmulator } from '../../src/emulator/index.ts'
import { chat, clientOf, MODEL } from './text-client.ts'

/** A time that passes when the test says so. */
const createPace = () => {
  const waiting: (() => void)[] = []
  let asked = 0
  return {
    asked: () => asked,
    pass: () => waiting.splice(0).forEach((resolve) => void resolve()),
    sleep: (ms: number) => {
      asked += ms
      return new Promise<void>((resolve) => waiting.push(resolve))
    },
    waits: async () => {
      while (waiting.length === 0) await tick()
    },
  }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

let emulator: Emulator
let pace: ReturnType<typeof createPace>

beforeEach(async () => {
  pace = createPace()
  emulator = await startEmulator({ text: { msPerDelta: 10, sleep: pace.sleep } })
})
afterEach(() => emulator.stop())

const called = (path: string, body: object) => {
  const away = new AbortController()
  const answer = fetch(emulator.text.url + path, {
    ...{ method: 'POST', body: JSON.stringify(body), signal: away.signal },
    headers: { authorization: `Bearer ${emulator.text.key}`, 'content-type': 'application/json' },
  })
  answer.catch(() => undefined)
  return { leave: () => away.abort(), answer }
}
const noticed = async () => {
  while (!emulator.calls[0]?.aborted) await tick()
}

describe('pace', () => {
  test('each delta takes its time, and comes when it is over', async () => {
    const { answer } = called('/chat/completions', chat('hi', { stream: true, max_tokens: 3 }))
    const reader = (await answer).body?.getReader()
    const read = async () => new TextDecoder().decode((await reader?.read())?.value)
    expect(await read()).toContain('"role":"assistant"')
    for (const word of ['You', ' wrot', 'e']) {
      await pace.waits()
      pace.pass()
      expect(await read()).toContain(`"content":"${word}"`)
    }
    expect(pace.asked()).toBe(30)
  })

  test('a plain answer takes the time of all its tokens', async () => {
    const { answer } = called('/responses', { model: MODEL, input: 'hi', max_output_tokens: 7 })
    await pace.waits()
    expect(pace.asked()).toBe(70)
    expect(emulator.calls[0]?.status).toBeUndefined()
    pace.pass()
    expect((await answer).status).toBe(200)
  })
})

describe('a caller that leaves is noted at once', () => {
  const STREAMS = [
    ['/chat/completions', chat('hi', { stream: true })],
    ['/responses', { model: MODEL, input: 'hi', stream: true }],
  ] as const
  for (const [path, body] of STREAMS) {
    test(`${path}: between two deltas, and no more is generated`, async () => {
      const { answer, leave } = called(path, body)
      await answer
      await pace.waits()
      leave()
      await noticed()
      const asked = pace.asked()
      pace.pass()
      await tick()
      expect(pace.asked()).toBe(asked)
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
        const { leave } = called(path, body)
        const handle = emulator.faults.add(fault)
        await handle.struck()
        leave()
        await noticed()
      })
    }

    test(`${path}: while a plain answer is made`, async () => {
      const { leave } = called(path, { ...body, stream: false })
      await pace.waits()
      leave()
      await noticed()
      expect(emulator.calls[0]?.status).toBeUndefined()
    })
  }

  test('and its answer is given up, as all are when the emulator stops', async () => {
    let given = 0
    const script = () => ({
      chunks: (function* () {
        try {
          yield 'x'
          yield { wait: new Promise(() => {}) }
        } finally {
          given++
        }
      })(),
    })
    emulator.text.answer(script, { times: 2 })
    const [first, second] = STREAMS.map(([path, body]) => called(path, body))
    await Promise.all([first?.answer, second?.answer])
    first?.leave()
    while (given < 1) await tick()
    await emulator.stop()
    while (given < 2) await tick()
    await expect(second?.answer.then((answer) => answer.text())).rejects.toThrow()
  })

  test('when it stops reading a stream of the official client', async () => {
    const stream = await clientOf(emulator).chat.completions.create({
      ...{ model: MODEL, messages: [{ role: 'user', content: 'hi' }], stream: true },
    })
    for await (const _ of stream) break
    await noticed()
  })

  test('a caller that stays to the end is not', async () => {
    for (const [path, body] of STREAMS) {
      const { answer } = called(path, { ...body, max_tokens: 1, max_output_tokens: 1 })
      const text = (await answer).text()
      await pace.waits()
      pace.pass()
      expect(await text).toContain('data:')
    }
    await tick()
    expect(emulator.calls.map((call) => call.aborted)).toEqual([undefined, undefined])
  })

  test('stopping ends what streams, waits or stalls', async () => {
    emulator.faults.add({ kind: 'silence', events: 2 })
    const answers = [1, 2].map((_, index) => called('/chat/completions', STREAMS[index === 0 ? 0 : 1][1]).answer)
    await Promise.race(answers)
    await pace.waits()
    await emulator.stop()
    expect(await Promise.all(answers.map((answer) => answer.then((one) => one.text()).catch(() => 'gone')))).toContain(
      'gone',
    )
    emulator = await startEmulator()
  })
})
