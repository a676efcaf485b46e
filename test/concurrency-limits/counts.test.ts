import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ConcurrencyCounts, type CountedRequest } from '../../plugins/concurrency-limits/counts.ts'
import { Problem } from '../../plugins/shared/problem.ts'

const limits = {
  process: { maxRequests: 7, maxStreams: 5, maxUnreadBodyBytes: 70 },
  user: { maxRequests: 3, maxStreams: 2, maxUnreadBodyBytes: 30 },
}
const nothing = { requests: 0, streams: 0, bodyBytes: 0 }

/** Events of requests, in any order and number. */
const steps = ['enter', 'identified', 'reading', 'streaming', 'streamed', 'responded', 'sending', 'sent'] as const
const stories = fc.array(
  fc.record({
    step: fc.constantFrom(...steps),
    nth: fc.nat(9),
    user: fc.constantFrom('ann', 'bob', 'cid'),
    bytes: fc.nat(20),
  }),
  { maxLength: 80 },
)

test('with any sequence of events no limit is exceeded, a user’s load rejects no other user, and no count remains at the end', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const counts = new ConcurrencyCounts(limits)
      const open: CountedRequest[] = []
      const read = new Map<CountedRequest, number>()
      for (const { step, nth, user, bytes } of story) {
        const request = open[nth % Math.max(1, open.length)]
        try {
          if (step === 'enter') open.push(counts.enter(new Request('http://localhost/'), () => false))
          else if (step === 'identified') request?.identified(user)
          else if (step === 'reading' && request) {
            request.reading(bytes)
            read.set(request, (read.get(request) ?? 0) + bytes)
          } else if (step === 'sending') request?.sending(bytes)
          else if (step !== 'reading') request?.[step]()
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          expect(error.headers['retry-after']).toBe('1')
          const own = counts.users.get(user) ?? nothing
          // 429 only when the user has reached his limit; 503 only when the total limit is reached.
          if (error.status === 503)
            expect(
              counts.all.requests === 7 ||
                counts.all.streams === 5 ||
                counts.all.bodyBytes + bytes > 70 ||
                counts.unauthenticated === 2,
            ).toBeTrue()
          else if (step === 'identified')
            expect(
              own.requests === 3 || own.streams === 2 || own.bodyBytes + (request ? (read.get(request) ?? 0) : 0) > 30,
            ).toBeTrue()
        }
        expect(counts.all.requests).toBeLessThanOrEqual(7)
        expect(counts.unauthenticated).toBeLessThanOrEqual(2)
        expect(counts.all.streams).toBeLessThanOrEqual(5)
        expect(counts.all.bodyBytes).toBeLessThanOrEqual(70)
        for (const own of counts.users.values()) {
          expect(own.requests).toBeLessThanOrEqual(3)
          expect(own.streams).toBeLessThanOrEqual(2)
          expect(own.bodyBytes).toBeLessThanOrEqual(30)
        }
      }
      for (const request of open) {
        request.responded()
        request.streamed()
        request.sent()
      }
      expect(counts.all).toEqual(nothing)
      expect(counts.users.size).toBe(0)
      expect(counts.unauthenticated).toBe(0)
    }),
    { numRuns: 3_000 },
  )
})
