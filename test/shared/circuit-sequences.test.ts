import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCircuitBreakers } from '../../plugins/shared/upstream/circuit-breaker.ts'

const rules = { failures: 3, calls: 6, ratio: 0.5, windowMs: 1_000, silentMs: 3_000, openMs: 100, maxOpenMs: 400 }

type How = 'succeeded' | 'failed' | 'unreachable' | 'left'

/** A call that the upstream has received. */
interface Sent {
  readonly isProbe: boolean
  readonly answer: ReturnType<typeof Promise.withResolvers<Response>>
  readonly abort: AbortController
  readonly done: Promise<unknown>
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
  open: { until: number; ms: number; probingUntil: number; isSilent: boolean } | undefined

  begin(now: number): 'sent' | 'probe' | 'refused' {
    if (!this.open && this.waiting >= rules.calls && now - this.silentSince >= rules.silentMs)
      this.open = { until: now + rules.openMs, ms: rules.openMs, probingUntil: 0, isSilent: true }
    if (!this.open) {
      this.waiting++
      if (this.waiting === rules.calls) this.silentSince = now
      return 'sent'
    }
    if (now < this.open.until || now < this.open.probingUntil) return 'refused'
    this.open.probingUntil = now + rules.maxOpenMs
    return 'probe'
  }

  end(how: How, isProbe: boolean, at: number): void {
    if (!isProbe) this.waiting--
    if (!this.open) {
      if (isProbe) return
      this.ends.push({ at, how })
      if (how === 'succeeded' || how === 'failed') this.silentSince = at
      if (how !== 'left' && opens(this.ends))
        this.open = { until: at + rules.openMs, ms: rules.openMs, probingUntil: 0, isSilent: false }
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

test('a circuit sends and refuses calls as its rules say, whatever the order of calls, answers and time', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 150 }), async (steps) => {
      let now = 1_000_000
      const model = new Model()
      const open: Sent[] = []
      let received: ReturnType<typeof Promise.withResolvers<Response>> | undefined
      const circuits = createCircuitBreakers({ ...rules, clock: { now: () => now } })
      const fetch = circuits.wrap(() => {
        received = Promise.withResolvers<Response>()
        return received.promise
      })
      for (const each of steps) {
        if (each.do === 'wait') now += each.ms
        else if (each.do === 'call') {
          received = undefined
          const abort = new AbortController()
          const done = fetch('http://upstream.test/x', { signal: abort.signal }).catch(() => {})
          const expected = model.begin(now)
          seen.add(expected)
          const answer = received as Sent['answer'] | undefined
          expect(answer ? 'sent' : 'refused').toBe(expected === 'refused' ? 'refused' : 'sent')
          if (answer) open.push({ isProbe: expected === 'probe', answer, abort, done })
        } else if (open.length > 0) {
          const [sent] = open.splice(each.which % open.length, 1) as [Sent]
          if (each.how === 'left') sent.abort.abort()
          if (each.how === 'succeeded') sent.answer.resolve(new Response())
          else if (each.how === 'failed') sent.answer.resolve(new Response(null, { status: 503 }))
          else sent.answer.reject(new Error('no response'))
          await sent.done
          model.end(each.how, sent.isProbe, now)
          if (model.open?.isSilent) seen.add('silent')
        }
        const state = !model.open ? 'closed' : now < model.open.until ? 'open' : 'half-open'
        const { closed, open: opened, 'half-open': half } = circuits.counts()
        if (closed + opened + half > 0)
          expect({ closed, opened, half }).toMatchObject({
            [state === 'half-open' ? 'half' : state === 'open' ? 'opened' : 'closed']: 1,
          })
      }
    }),
    { numRuns: 500, seed: 25 },
  )
  expect([...seen].sort()).toEqual(['probe', 'refused', 'sent', 'silent'])
})
