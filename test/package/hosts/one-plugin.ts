/** Hosts with one plugin each: a compiler finds no name by way of another plugin. */
import { Elysia } from 'elysia'
import { type OwnershipStore, ownership } from 'sluice/ownership'

declare const store: OwnershipStore

export const app = new Elysia()
  .use(ownership({ store, identify: () => ({ user: 'ann' }) }))
  .get('/assets/:id', ({ asset }) => asset, { locatesAsset: 'id' })
  .get('/groups/:id', ({ group }) => group, { ownsGroup: 'id' })
