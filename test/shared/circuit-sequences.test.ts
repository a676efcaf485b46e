import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'

const rules = {
  ...{ failures: 3, calls: 6, ratio: 0.5, windowMs: 1_000, silentMs: 3_000 },
  ...{ openMs: 100, maxOpenMs: 400, probeWaitMs: 60 },
}

type How = 'succeeded' | 'failed' | 'unreachable' | 'left'

interface Call {
  readonly init: RequestInit
  readonly abort: AbortController
  /** Undefined: it is in progress. */
  result: 'answered' | 'failed' | undefined
}

/** A call that the upstream has received. */
interface Sent extends Call {
  readonly isProbe: boolean
  readonly answer: ReturnType<typeof Promise.withResolvers<Response>>
}

interface End {
  readonly at: number
  readonly how: How
}

/** Whether calls that have ended since the circuit was closed open it, by reading them all again. */
const opens = (ends: readonly End[]): boolean => {
  const told = ends.filter(({ how }) => how !== 'left')
  const last = told.at(-1)
  if (!last || last.how === 'succeeded') return false
  const inARow = told.slice(-rules.failures)
  if (inARow.length === rules.failures && inARow.every(({ how }) => how === 'unreachable')) return true
  let window: End[] = []
  for (const end of told) window = window[0] && end.at < window[0].at + rules.windowMs ? [...window, end] : [end]
  const failed = window.filter(({ how }) => how !== 'succeeded').length
  return window.length >= rules.calls && failed >= rules.ratio * window.length
}

/** What the rules say about one circuit. It keeps everything that has happened. */
class Model {
  ends: End[] = []
  /** When calls began to wait, or to wait again after a response, while `calls` of them did. */
  silentSince = 0
  waiting = 0
  open: { until: number; ms: number; probingUntil: number; waitUntil: number; isSilent: boolean } | undefined

  begin(now: number): 'sent' | 'probe' | 'waits' | 'refused' {
    if (!this.open && this.waiting >= rules.calls && now - this.silentSince >= rules.silentMs)
      this.open = { until: now + rules.openMs, ms: rules.openMs, probingUntil: 0, waitUntil: 0, isSilent: true }
    if (!this.open) {
      this.waiting++
      if (this.waiting === rules.calls) this.silentSince = now
      return 'sent'
    }
    if (now < this.open.until) return 'refused'
    if (now < this.open.probingUntil) return now < this.open.waitUntil ? 'waits' : 'refused'
    this.open.probingUntil = now + rules.maxOpenMs
    this.open.waitUntil = now + rules.probeWaitMs
    return 'probe'
  }

  end(how: How, isProbe: boolean, at: number): void {
    if (!isProbe) this.waiting--
    if (!this.open) {
      if (isProbe) return
      this.ends.push({ at, how })
      if (how === 'succeeded' || how === 'failed') this.silentSince = at
      if (how !== 'left' && opens(this.ends))
        this.open = { until: at + rules.openMs, ms: rules.openMs, probingUntil: 0, waitUntil: 0, isSilent: false }
      return
    }
    if (how === 'succeeded' && (isProbe || this.open.isSilent)) {
      this.open = undefined
      this.ends = []
      this.silentSince = at
    } else if (isProbe) {
      this.open.probingUntil = 0
      if (how !== 'left') this.open.ms = Math.min(2 * this.open.ms, rules.maxOpenMs)
      if (how !== 'left') this.open.until = at + this.open.ms
    }
  }
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('call' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(20),
      how: fc.constantFrom<How>('succeeded', 'succeeded', 'failed', 'unreachable', 'unreachable', 'left'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 50, 100, 400, 1_000, 3_000) }),
  },
)

/** One circuit and its model, which get the same calls. */
class Pair {
  now = 1_000_000
  readonly model = new Model()
  /** Calls that the upstream has received, and has not answered. */
  readonly sent: Sent[] = []
  readonly seen = new Set<string>()
  /** Calls that wait for the end of a probe, in their order. */
  #waiting: Call[] = []
  readonly #received = new Map<RequestInit, Sent['answer']>()
  #timer: { readonly time: number; readonly run: () => void } | undefined
  readonly circuits = createCircuitBreakers({
    ...rules,
    clock: {
      now: () => this.now,
      at: (time, run) => {
        const timer = { time, run }
        this.#timer = timer
        return () => {
          if (this.#timer === timer) this.#timer = undefined
        }
      },
    },
  })
  readonly #fetch = this.circuits.wrap((_, init) => {
    const answer = Promise.withResolvers<Response>()
    this.#received.set(init, answer)
    return answer.promise
  })

  async call(): Promise<void> {
    const abort = new AbortController()
    const call: Call = { init: { signal: abort.signal }, abort, result: undefined }
    this.#fetch('http://upstream.test/x', call.init).then(
      () => {
        call.result = 'answered'
      },
      () => {
        call.result = 'failed'
      },
    )
    await settled()
    this.#expect(call)
  }

  async end(sent: Sent, how: How): Promise<void> {
    if (how === 'left') sent.abort.abort()
    if (how === 'succeeded') sent.answer.resolve(new Response())
    else if (how === 'failed') sent.answer.resolve(new Response(null, { status: 503 }))
    else sent.answer.reject(new Error('no response'))
    await settled()
    this.model.end(how, sent.isProbe, this.now)
    if (this.model.open?.isSilent) this.seen.add('silent')
    this.#askAgain()
  }

  async wait(ms: number): Promise<void> {
    const until = this.now + ms
    for (let timer = this.#timer; timer && timer.time <= until; timer = this.#timer) {
      this.#timer = undefined
      this.now = timer.time
      timer.run()
      await settled()
      this.#askAgain()
    }
    this.now = until
  }

  /** Calls that wait ask again when a probe has ended, or when they have waited for long. */
  #askAgain(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const call of waiting) this.#expect(call)
  }

  /** That the circuit has done with a call what the model says. */
  #expect(call: Call): void {
    const expected = this.model.begin(this.now)
    this.seen.add(expected)
    const answer = this.#received.get(call.init)
    const found = answer ? 'sent' : (call.result ?? 'waits')
    expect(found).toBe(expected === 'waits' ? 'waits' : expected === 'refused' ? 'failed' : 'sent')
    if (answer) this.sent.push(Object.assign(call, { isProbe: expected === 'probe', answer }))
    else if (expected === 'waits') this.#waiting.push(call)
  }
}

/** When all that goes on without time has happened. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await undefined
}

test('a circuit sends and refuses calls as its rules say, whatever the order of calls, answers and time', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150 }), async (steps) => {
      const pair = new Pair()
      for (const each of steps) {
        if (each.do === 'wait') await pair.wait(each.ms)
        else if (each.do === 'call') await pair.call()
        else if (pair.sent.length > 0) {
          const [sent] = pair.sent.splice(each.which % pair.sent.length, 1) as [Sent]
          await pair.end(sent, each.how)
        }
        const { open } = pair.model
        const state = !open ? 'closed' : pair.now < open.until ? 'open' : 'half-open'
        const { refused, ...counts } = pair.circuits.counts()
        if (Object.values(counts).some((count) => count > 0)) expect(counts).toMatchObject({ [state]: 1 })
      }
      for (const each of pair.seen) seen.add(each)
    }),
    { numRuns: 500, seed: 25 },
  )
  expect([...seen].sort()).toEqual(['probe', 'refused', 'sent', 'silent', 'waits'])
})
