import { expect, test } from 'bun:test'
import { concurrencyLimits, type InFlight, inFlightOf, type MaxConcurrency } from 'sluice/concurrency-limits'

/** What a limit throws at the second request of a user. */
const thrownBy = async (user: Partial<MaxConcurrency>, use: (inFlight: InFlight) => void): Promise<unknown> => {
  const ended = Promise.withResolvers<void>()
  let thrown: unknown
  const handle = concurrencyLimits({ user }).limited(async (request) => {
    try {
      const inFlight = inFlightOf(request)
      inFlight?.identified('ann')
      if (inFlight) use(inFlight)
    } catch (error) {
      thrown = error
    }
    await ended.promise
    return new Response()
  })
  const first = handle(new Request('http://localhost/'))
  const second = handle(new Request('http://localhost/'))
  ended.resolve()
  await Promise.all([first, second])
  return thrown
}

for (const [what, user, use] of [
  ['requests', { maxRequests: 1 }, () => {}],
  ['streams', { maxStreams: 1 }, (inFlight) => inFlight.streaming()],
  ['bytes of bodies', { maxUnreadBodyBytes: 1 }, (inFlight) => inFlight.reading(1)],
] as const satisfies readonly [string, ...Parameters<typeof thrownBy>][]) {
  test(`a user’s limit of ${what} throws one problem each time, whose response is rendered once`, async () => {
    const [first, second] = [await thrownBy(user, use), await thrownBy(user, use)]
    expect(first).toMatchObject({ status: 429, message: `too many ${what} at once` })
    expect(second).toBe(first)
  })
}
