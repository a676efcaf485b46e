import { expect, test } from 'bun:test'
import { noAudit } from '../../plugins/shared/audit.ts'
import { countInFlight, type InFlight } from '../../plugins/shared/in-flight.ts'
import { createStoredResponseRoutes } from '../../plugins/text-generation/objects/stored-response-routes.ts'
import { keptOpener, respond } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()

test('the items that a route reads from the store count like a body', async () => {
  const { id } = await respond(keptOpener(store)(), 'ann', {
    input: 'x'.repeat(10_000),
    instructions: 'y'.repeat(3_000),
  })
  const routes = createStoredResponseRoutes({ store, maxRequestBytes: 2 ** 20, clock: Date, audit: noAudit })
  const counted = async (action: Parameters<typeof routes>[0]) => {
    const request = new Request(`http://localhost/v1/responses/${id}?limit=1`)
    let bytes = 0
    countInFlight(request, {
      reading(count: number) {
        bytes += count
      },
    } as InFlight)
    expect((await routes(action, { request, user: 'ann', id }))?.status).toBe(200)
    return bytes
  }
  expect(await counted('ListInputItems')).toBeWithin(10_000, 11_000)
  expect(await counted('GetResponse')).toBeWithin(3_000, 5_000)
  const request = new Request(`http://localhost/v1/responses/${id}`)
  countInFlight(request, {
    reading() {
      throw new Error('the limit')
    },
  } as unknown as InFlight)
  await expect(routes('ListInputItems', { request, user: 'ann', id })).rejects.toThrow('the limit')
})
