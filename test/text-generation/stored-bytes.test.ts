import { expect, test } from 'bun:test'
import { noAudit } from '../../plugins/shared/audit.ts'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { countInFlight, type InFlight } from '../../plugins/shared/http/in-flight.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { continueRequest } from '../../plugins/text-generation/objects/stored/continuation.ts'
import { createStoredResponseRoutes } from '../../plugins/text-generation/objects/stored/routes.ts'
import { respond, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()

test('the items that a route reads from the store count like a body', async () => {
  const { id } = await respond(storedOpener(store)(), 'ann', {
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

test('the items that a request continues count like its body', async () => {
  const { id } = await respond(storedOpener(store)(), 'ann', { input: 'x'.repeat(10_000) })
  const json = readJson(JSON.stringify({ model: 'm', input: 'y', previous_response_id: id }))
  const request = new Request('http://localhost/v1/responses')
  let bytes = 0
  countInFlight(request, {
    reading(count: number) {
      bytes += count
    },
  } as InFlight)
  const options = { store, now: Date.now(), maxBytes: 2 ** 20 }
  await continueRequest(new JsonBody(json, json.bytes), { user: 'ann', request }, options)
  expect(bytes).toBeWithin(10_000, 11_000)

  bytes = 0
  const [item] = await store.listStoredItems('ann', [id])
  const twice = readJson(
    JSON.stringify({ model: 'm', input: [1, 2].map(() => ({ type: 'item_reference', id: item?.id })) }),
  )
  const { ownBytes } = await continueRequest(new JsonBody(twice, twice.bytes), { user: 'ann', request }, options)
  expect(bytes).toBeWithin(20_000, 21_000)
  expect(ownBytes).toBe(bytes + twice.bytes.length)
})
