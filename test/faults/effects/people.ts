import { aboutOf, type Effect, type Effects, hasSession, lastOf, lists, listsNot, reads, withId } from './effect.ts'

const admin = '/api/admin'

const beginsSession: Effect = (world, { reply }) => hasSession(world, reply.cookie)

const isAdopted: Effect = async ({ store }, { request: { body } }) =>
  (await store.group((body as { readonly group_id: string }).group_id)) !== undefined

const isDecided =
  (action: string): Effect =>
  async ({ store }, { request }) => {
    const task = await store.anyVideoTask(lastOf(request, action))
    return task !== undefined && task.undecidedAt === undefined
  }

/** The effects of what people do for themselves, and operators for them. */
export const peopleEffects: Effects = {
  'POST /api/session': beginsSession,
  'GET /api/session/oidc/callback': beginsSession,
  'DELETE /api/session': async (world, { request }) => !(await hasSession(world, request.headers?.cookie)),
  'PATCH /api/account': async ({ store, ids }, { request }) =>
    (await store.account(ids.session))?.password !== aboutOf(request),
  'DELETE /api/account/sessions': async (world, { request }) => !(await hasSession(world, aboutOf(request))),
  'DELETE /api/account/sessions/{}': listsNot('/api/account/sessions'),
  'POST /api/invitations/{}': async ({ store }, { request }) =>
    (await store.account(aboutOf(request)))?.password !== undefined,
  'POST /api/tokens': lists('/api/tokens', (json) => json.token.id),
  'POST /api/tokens/{}/rotate': lists('/api/tokens', (json) => json.token.id),
  'DELETE /api/tokens/{}': listsNot('/api/tokens'),
  'POST /api/webhooks': lists('/api/webhooks', (json) => json.webhook.id),
  'DELETE /api/webhooks/{}': listsNot('/api/webhooks'),
  'POST /api/media/face-verifications': withId('/api/media/face-verifications', (json) => json.verification_id),

  [`POST ${admin}/users`]: withId(`${admin}/users`, (json) => json.user.id),
  [`POST ${admin}/users/import`]: withId(`${admin}/users`, (json) => json.users[0].id),
  [`PATCH ${admin}/users/{}`]: async (world, { request: { as, path, body } }) =>
    (await world.ask('GET', { as, path })).user.name === (body as { readonly name: string }).name,
  [`POST ${admin}/users/{}/invitation`]: (world, { json }) =>
    reads(world, 'nobody', `/api/invitations/${String(json.invitation.url).split('/').at(-1)}`),
  [`DELETE ${admin}/users/{}/sessions`]: async (world, { request }) => !(await hasSession(world, aboutOf(request))),
  [`POST ${admin}/users/{}/tokens`]: async ({ store }, { json }) =>
    (await store.adminToken(json.token.id)) !== undefined,
  [`POST ${admin}/teams`]: async ({ store }, { json }) => (await store.team(json.team.id)) !== undefined,
  [`PATCH ${admin}/teams/{}`]: async ({ store }, { request }) =>
    (await store.team(lastOf(request)))?.name === (request.body as { readonly name: string }).name,
  [`DELETE ${admin}/teams/{}`]: async ({ store }, { request }) => (await store.team(lastOf(request))) === undefined,
  [`PATCH ${admin}/tokens/{}`]: async ({ store }, { request }) =>
    (await store.adminToken(lastOf(request)))?.label === (request.body as { readonly label: string }).label,
  [`POST ${admin}/tokens/{}/rotate`]: async ({ store }, { json }) =>
    (await store.adminToken(json.token.id)) !== undefined,
  [`DELETE ${admin}/tokens/{}`]: async ({ store }, { request }) =>
    (await store.adminToken(lastOf(request)))?.revokedAt !== undefined,
  [`POST ${admin}/groups/adopt`]: isAdopted,
  [`POST ${admin}/groups/pending/{}/adopt`]: isAdopted,
  [`POST ${admin}/groups/pending/{}/release`]: async ({ store }, { request }) =>
    (await store.pendingGroup(lastOf(request, '/release'))) === undefined,
  [`POST ${admin}/batches/{}/cancel`]: async ({ store }, { request }) =>
    (await store.assetBatchOf(lastOf(request, '/cancel')))?.cancelledAt !== undefined,
  [`POST ${admin}/videos/{}/adopt`]: isDecided('/adopt'),
  [`POST ${admin}/videos/{}/release`]: isDecided('/release'),
}
