import type { FaultReply, FaultRequest, FaultWorld } from './world.ts'

/** Whether the effect of a request exists that was acknowledged. Of routes that change nothing: true. */
export const isThere = async (
  world: FaultWorld,
  route: string,
  request: FaultRequest,
  reply: FaultReply,
): Promise<boolean> => (await effects[route]?.(world, request, jsonOf(reply))) ?? true

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type Json = any

type Effect = (world: FaultWorld, request: FaultRequest, json: Json) => Promise<boolean>

const jsonOf = ({ text }: FaultReply): Json => (text.startsWith('{') ? JSON.parse(text) : undefined)

/** That a path can be read, or not. */
const reads = async (world: FaultWorld, as: FaultRequest['as'], path: string): Promise<boolean> =>
  (await world.send('GET', { as, path })).status < 400

const gone: Effect = async (world, { as, path }) => !(await reads(world, as, path))

const library = '/api/media/proxy/assets'
const tasks = '/api/v3/contents/generations/tasks'
const withId =
  (base: string, idOf: (json: Json) => string): Effect =>
  (world, { as }, json) =>
    reads(world, as, `${base}/${idOf(json)}`)

const hasName: Effect = async (world, { as, path, body }) => {
  const found = await world.ask('GET', { as, path })
  return found.Result.Name === (body as { readonly Name: string }).Name
}

const lists =
  (path: string, idOf: (json: Json) => string): Effect =>
  async (world, { as }, json) =>
    (await world.send('GET', { as, path })).text.includes(idOf(json))

const listsNot =
  (path: string): Effect =>
  async (world, request) =>
    !(await world.send('GET', { as: request.as, path })).text.includes(request.path.split('/').at(-1) ?? '')

const isWithdrawn: Effect = async ({ store }, { path }) => {
  const [, group = ''] = /(group-[\w-]+)/.exec(path) ?? []
  return store.hasWithdrawn(group)
}

/** How to see the effects of the routes that write. */
const effects: Readonly<Record<string, Effect>> = {
  [`POST ${library}/groups`]: withId(`${library}/groups`, (json) => json.Result.Id),
  [`PUT ${library}/groups/{}`]: hasName,
  [`PATCH ${library}/groups/{}`]: hasName,
  [`DELETE ${library}/groups/{}`]: gone,
  [`POST ${library}/groups/{}/shares`]: async (world, { as, path }, json) =>
    (await world.send('GET', { as, path })).text.includes(json.Result.Id),
  [`DELETE ${library}/groups/{}/shares/{}`]: async (world, { as, path }) => {
    const [, list = '', id = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? []
    return !(await world.send('GET', { as, path: list })).text.includes(id)
  },
  [`POST ${library}`]: withId(library, (json) => json.Result.Id),
  [`PUT ${library}/{}`]: hasName,
  [`PATCH ${library}/{}`]: hasName,
  [`DELETE ${library}/{}`]: gone,
  [`POST ${library}/batches`]: withId(`${library}/batches`, (json) => json.Result.Id),
  [`POST ${library}/groups/{}/consent/withdraw`]: isWithdrawn,
  [`POST ${library}/groups/{}/consent/delete`]: isWithdrawn,
  // A part of a response, at the time limit, is not kept.
  'POST /v1/responses': async (world, { as }, json) =>
    json.status === 'incomplete' || reads(world, as, `/v1/responses/${json.id}`),
  'DELETE /v1/responses/{}': gone,
  [`POST ${tasks}`]: withId(tasks, (json) => json.id),
  [`DELETE ${tasks}/{}`]: gone,
  'POST /v1/videos': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/edits': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/extensions': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/{}/remix': withId('/v1/videos', (json) => json.id),
  'DELETE /v1/videos/{}': gone,
  'POST /api/uploads': async (world, _, json) => {
    const { pathname, search } = new URL(json.upload.url)
    return reads(world, 'nobody', pathname + search)
  },
  'POST /api/tokens': lists('/api/tokens', (json) => json.token.id),
  'DELETE /api/tokens/{}': listsNot('/api/tokens'),
  'POST /api/webhooks': async (world, request, json) =>
    (await world.send('GET', { ...request, body: undefined })).text.includes(json.webhook.id),
  'DELETE /api/webhooks/{}': listsNot('/api/webhooks'),
  'DELETE /api/account/sessions/{}': listsNot('/api/account/sessions'),
  'POST /api/media/face-verifications': withId('/api/media/face-verifications', (json) => json.verification_id),
  'POST /api/admin/users': withId('/api/admin/users', (json) => json.user.id),
  'PATCH /api/admin/users/{}': async (world, { as, path, body }) =>
    (await world.ask('GET', { as, path })).user.name === (body as { readonly name: string }).name,
  'POST /api/admin/users/{}/tokens': async ({ store }, _, json) =>
    (await store.adminToken(json.token.id)) !== undefined,
  'POST /api/admin/teams': async ({ store }, _, json) => (await store.team(json.team.id)) !== undefined,
  'DELETE /api/admin/teams/{}': async ({ store }, { path }) =>
    (await store.team(path.split('/').at(-1) ?? '')) === undefined,
  'DELETE /api/admin/tokens/{}': async ({ store }, { path }) =>
    (await store.adminToken(path.split('/').at(-1) ?? ''))?.revokedAt !== undefined,
  'POST /api/admin/groups/adopt': async ({ store }, { body }) =>
    (await store.group((body as { readonly group_id: string }).group_id)) !== undefined,
  'POST /api/admin/groups/pending/{}/adopt': async ({ store }, { body }) =>
    (await store.group((body as { readonly group_id: string }).group_id)) !== undefined,
  'POST /api/admin/groups/pending/{}/release': async ({ store }, { path }) =>
    (await store.pendingGroup(path.split('/').at(-2) ?? '')) === undefined,
}
