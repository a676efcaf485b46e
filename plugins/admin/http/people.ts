import { noStoreJson, success } from '../../shared/http/no-store.ts'
import type { TextSigner } from '../../shared/identity/signed-text.ts'
import type { LimitReport } from '../../usage-limits/index.ts'
import { optional, readWord } from '../fields.ts'
import type { TeamOperations } from '../operations/teams.ts'
import { type IssuedToken, readTokenQuery, type TokenOperations } from '../operations/tokens.ts'
import type { Invitation, UserOperations } from '../operations/users.ts'
import type { AdminToken, AdminUser, Team } from '../store.ts'
import { toTeamView, toTokenView, toUserView } from '../views/people.ts'
import { isoTime } from '../views/time.ts'
import type { AdminHandler } from './call.ts'
import type { CreateOnce } from './create-once.ts'
import { pathId, readInput, readQuery } from './input.ts'
import { pageParameters, pageRequest, pageResponse, readPage } from './pages.ts'

/** What the routes of users, teams and tokens need. */
export interface PeopleRoutesOptions {
  readonly users: UserOperations
  readonly teams: TeamOperations
  readonly tokens: TokenOperations
  readonly limits: ((user: string) => Promise<readonly LimitReport[]>) | undefined
  /** The link with the secret of an invitation. */
  readonly invitationUrl: (secret: string) => string
  readonly createOnce: CreateOnce
  readonly signer: TextSigner
}

/** The routes of users. */
export const userRoutes = ({ users, limits, invitationUrl, createOnce, signer }: PeopleRoutesOptions) => {
  const linkOf = ({ secret, expiresAt }: Invitation) => ({ url: invitationUrl(secret), expires_at: isoTime(expiresAt) })
  return {
    async list({ actor, request }) {
      const query = readQuery(request, ['search', 'role', 'team', 'state', ...pageParameters])
      const page = readPage(query, ['users'], signer)
      const filter = {
        ...{ search: query.search, team: query.team },
        role: optional(query, 'role', readWord(['user', 'admin'])),
        state: optional(query, 'state', readWord(['enabled', 'disabled'])),
      }
      return pageResponse('users', await users.list(actor, filter, pageRequest(page)), page, toUserView)
    },

    async add({ actor, identity, request }) {
      const { input, bytes } = await readInput(request)
      const kept = ({ user, invitation }: { user: AdminUser; invitation?: Pick<Invitation, 'expiresAt'> }) => ({
        ...{ success: true, user: toUserView(user) },
        ...(invitation && { invitation: { url: null, expires_at: isoTime(invitation.expiresAt) } }),
      })
      const find = (id: string) => users.added(actor, input, id).then((found) => found && kept(found))
      return createOnce(request, { user: identity.user, route: 'POST /users', bytes, find }, async (id) => {
        const added = await users.add(actor, input, id)
        const { invitation } = added
        return { shown: { ...kept(added), ...(invitation && { invitation: linkOf(invitation) }) }, kept: kept(added) }
      })
    },

    async get({ actor, params }) {
      return success({ user: toUserView(await users.get(actor, pathId(params))) })
    },

    async change({ actor, request, params }) {
      const { input } = await readInput(request)
      return success({ user: toUserView(await users.change(actor, pathId(params), input)) })
    },

    async invite({ actor, identity, request, params }) {
      const user = pathId(params)
      const route = `POST /users/${user}/invitation`
      // A new link ends the one that an earlier request may have made.
      const creation = { user: identity.user, route, bytes: new Uint8Array(), find: async () => undefined }
      return createOnce(request, creation, async () => {
        const link = linkOf(await users.invite(actor, user))
        const answer = (invitation: object) => ({ success: true, invitation })
        return { shown: answer(link), kept: answer({ ...link, url: null }) }
      })
    },

    async endSessions({ actor, params }) {
      await users.endSessions(actor, pathId(params))
      return success()
    },

    async limits({ actor, params }) {
      const { id } = await users.get(actor, pathId(params))
      return success({ limits: (await limits?.(id)) ?? [] })
    },
  } satisfies Record<string, AdminHandler>
}

/** The routes of teams. */
export const teamRoutes = ({ teams, createOnce, signer }: PeopleRoutesOptions) =>
  ({
    async list({ actor, request }) {
      const page = readPage(readQuery(request, pageParameters), ['teams'], signer)
      return pageResponse('teams', await teams.list(actor, pageRequest(page)), page, toTeamView)
    },

    async add({ actor, identity, request }) {
      const { input, bytes } = await readInput(request)
      const shown = (team: Team) => ({ success: true, team: toTeamView(team) })
      const find = (id: string) => teams.added(actor, input, id).then((found) => found && shown(found))
      return createOnce(request, { user: identity.user, route: 'POST /teams', bytes, find }, async (id) => ({
        shown: shown(await teams.add(actor, input, id)),
      }))
    },

    async change({ actor, request, params }) {
      const { input } = await readInput(request)
      return success({ team: toTeamView(await teams.change(actor, pathId(params), input)) })
    },

    async remove({ actor, params }) {
      await teams.remove(actor, pathId(params))
      return success()
    },
  }) satisfies Record<string, AdminHandler>

/** The routes of tokens. */
export const tokenRoutes = ({ tokens, createOnce, signer }: PeopleRoutesOptions) => {
  const kept = (token: AdminToken) => ({ success: true, token: toTokenView(token) })
  const shownOnce = ({ token, secret }: IssuedToken) => ({
    shown: { success: true, token: { ...toTokenView(token), token: secret } },
    kept: kept(token),
  })
  return {
    async listAll({ actor, request }) {
      const query = readQuery(request, ['search', 'user', 'state', 'used_since', 'unused_since', ...pageParameters])
      const page = readPage(query, ['all tokens'], signer)
      const found = await tokens.listAll(actor, readTokenQuery(query), pageRequest(page))
      return pageResponse('tokens', found, page, toTokenView)
    },

    async list({ actor, request, params }) {
      const user = pathId(params)
      const page = readPage(readQuery(request, pageParameters), ['tokens', user], signer)
      return pageResponse('tokens', await tokens.list(actor, user, pageRequest(page)), page, toTokenView)
    },

    async add({ actor, identity, request, params }) {
      const user = pathId(params)
      const { input, bytes } = await readInput(request)
      const route = `POST /users/${user}/tokens`
      const find = (id: string) => tokens.added(actor, input, id).then((found) => found && kept(found))
      return createOnce(request, { user: identity.user, route, bytes, find }, async (id) =>
        shownOnce(await tokens.add(actor, user, input, id)),
      )
    },

    async change({ actor, request, params }) {
      const { input } = await readInput(request)
      return success({ token: toTokenView(await tokens.change(actor, pathId(params), input)) })
    },

    async rotate({ actor, request, params }) {
      const { input } = await readInput(request)
      return noStoreJson(shownOnce(await tokens.rotate(actor, pathId(params), input)).shown)
    },

    async revoke({ actor, params }) {
      await tokens.revoke(actor, pathId(params))
      return success()
    },
  } satisfies Record<string, AdminHandler>
}
