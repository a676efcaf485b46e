import type { FaultRequest, FaultWorld } from '../world.ts'
import { aboutOf, type Effect, type Effects, gone, lastOf, reads, withId } from './effect.ts'

const base = '/api/media/proxy/assets'

const hasName: Effect = async (world, { request: { as, path, body } }) => {
  const found = await world.ask('GET', { as, path })
  return found.Result.Name === (body as { readonly Name: string }).Name
}

const isWithdrawn: Effect = async ({ store }, { request: { about, path } }) =>
  store.hasWithdrawn(about ?? /(group-[\w-]+)/.exec(path)?.[1] ?? '')

const batchOf = ({ store, ids }: FaultWorld, { path }: FaultRequest) => {
  const [, batch = ''] = /batches\/([^/]+)/.exec(path) ?? []
  return store.assetBatch(ids.token, batch)
}

/** A batch may have ended before it could be cancelled. */
const isCancelled: Effect = async (world, { request }) => {
  const batch = await batchOf(world, request)
  return (batch?.cancelledAt ?? batch?.endedAt) !== undefined
}

const isRetried: Effect = async (world, { request }) => (await batchOf(world, request))?.retriedAt !== undefined

const consent = '/api/media/face-verifications/consent/{}'
const adminConsent = '/api/admin/consents/{}'

/** The effects of what writes in the asset library. */
export const libraryEffects: Effects = {
  [`POST ${base}/groups`]: withId(`${base}/groups`, (json) => json.Result.Id),
  [`PUT ${base}/groups/{}`]: hasName,
  [`PATCH ${base}/groups/{}`]: hasName,
  [`DELETE ${base}/groups/{}`]: gone,
  [`POST ${base}/groups/{}/shares`]: async (world, { request: { as, path }, json }) =>
    (await world.send('GET', { as, path })).text.includes(json.Result.Id),
  [`DELETE ${base}/groups/{}/shares/{}`]: async (world, { request }) => {
    const [, list = '', id = ''] = /^(.*)\/([^/]+)$/.exec(request.path) ?? []
    return !(await world.send('GET', { as: request.as, path: list })).text.includes(id)
  },
  [`POST ${base}/groups/{}/return`]: async ({ store, ids }, { request }) => {
    const lent = await store.groupsLentTo(ids.token, Date.now())
    return !lent.some(({ id }) => id === lastOf(request, '/return'))
  },
  [`POST ${base}`]: withId(base, (json) => json.Result.Id),
  [`PUT ${base}/{}`]: hasName,
  [`PATCH ${base}/{}`]: hasName,
  [`DELETE ${base}/{}`]: gone,
  [`POST ${base}/batches`]: withId(`${base}/batches`, (json) => json.Result.Id),
  [`POST ${base}/batches/{}/cancel`]: isCancelled,
  [`POST ${base}/batches/{}/retry`]: isRetried,
  [`POST ${base}/batches/{}/items/{}/retry`]: isRetried,
  [`POST ${base}/groups/{}/consent/withdraw`]: isWithdrawn,
  [`POST ${base}/groups/{}/consent/delete`]: isWithdrawn,
  [`POST ${base}/groups/{}/consent/links`]: (world, { json }) =>
    reads(world, 'nobody', new URL(json.Result.URL).pathname),
  [`POST ${consent}/withdraw`]: ({ store }, { request }) => store.hasWithdrawn(aboutOf(request)),
  [`POST ${consent}/delete`]: ({ store }, { request }) => store.hasWithdrawn(aboutOf(request)),
  [`POST ${adminConsent}/withdraw`]: isWithdrawn,
  [`POST ${adminConsent}/delete`]: isWithdrawn,
}
