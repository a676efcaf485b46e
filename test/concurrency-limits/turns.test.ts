import { expect, test } from 'bun:test'
import { concurrencyLimits, inFlightOf } from 'sluice/concurrency-limits'
import { requireIdentity } from '../../plugins/shared/identity/identify.ts'

const asks = (token: string) => new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })

test('without a server of this package, users take turns, too', async () => {
  const handled: string[] = []
  const limits = concurrencyLimits({ user: { maxRequests: 1_000 } })
  const handle = limits.limited((request) => {
    const user = request.headers.get('authorization') ?? ''
    inFlightOf(request)?.identified(user)
    handled.push(user)
    return new Response('x')
  })
  const flood = Array.from({ length: 300 }, () => handle(asks('flood')))
  const quiet = handle(asks('quiet'))
  expect(limits.counts().waiting).toBeGreaterThan(200)
  const responses = await Promise.all([...flood, quiet])
  expect(responses.every(({ status }) => status === 200)).toBeTrue()
  expect(handled).toHaveLength(301)
  expect(handled.indexOf('Bearer quiet')).toBeLessThan(50)
  expect(limits.counts().waiting).toBe(0)
})

test('all tokens of a user, once used, are one caller', async () => {
  const handled: string[] = []
  const limits = concurrencyLimits({ user: { maxRequests: 1_000 } })
  const userOf = (token: string) => token.replace(/^Bearer (\w+)-.*/, '$1')
  const handle = limits.limited(async (request) => {
    const { user } = await requireIdentity(
      ({ headers }) => ({ user: userOf(headers.get('authorization') ?? '') }),
      request,
    )
    handled.push(user)
    return new Response('x')
  })
  const ann = Array.from({ length: 600 }, (_, nth) => handle(asks(`ann-${nth % 50}`)))
  const bob = Array.from({ length: 50 }, () => handle(asks('bob-1')))
  await Promise.all([...ann, ...bob])
  const untilBobWasServed = handled.slice(0, handled.lastIndexOf('bob'))
  expect(untilBobWasServed.filter((user) => user === 'ann').length).toBeLessThan(200)
})
