/** Exact pages from an API with its own paging: describe its paging as a `Source`, and `listing.pageOf` does the rest. */
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import {
  instantKey,
  type ListRules,
  type Position,
  paginationNormalizer,
  type Source,
} from 'sluice/pagination-normalizer'

interface Order extends Position {
  readonly time: string
}

/** Your API: pages of at most 50 orders up to a depth of 1,000 orders, and cursors. Here it is an array. */
const orders = Array.from({ length: 2_500 }, (_, nth): Order => {
  const time = new Date(Date.UTC(2026, 0, 1, 0, Math.floor(nth / 3))).toISOString()
  return { id: `order-${nth}`, time, key: instantKey(time) }
})

const ordersOf = (sortOrder: 'Asc' | 'Desc'): Source<Order> => {
  const forwards = sortOrder === 'Asc' ? orders : orders.toReversed()
  return {
    id: sortOrder,
    maxPageSize: 50,
    maxPageDepth: 1_000,
    async page(number, size, backwards) {
      const list = backwards ? forwards.toReversed() : forwards
      return { rows: list.slice((number - 1) * size, number * size), total: list.length }
    },
    async walk(cursor = '0', size) {
      const end = Number(cursor) + size
      return { rows: forwards.slice(Number(cursor), end), cursor: end < forwards.length ? String(end) : undefined }
    },
    fingerprint: async () => ({ total: orders.length, text: String(orders.at(-1)?.time) }),
  }
}

const orderList: ListRules = { endpoint: 'orders', filters: {}, sortBy: ['Time'] }

export const app = new Elysia()
  .use(paginationNormalizer({ secrets: ['sixteen bytes or more'] }))
  .get('/orders', ({ listing }) => listing.pageOf([ordersOf(listing.sortOrder)], 'everybody'), { lists: orderList })

if (import.meta.main) await createNodeServer(app).listen(3000)
