import { expect } from 'bun:test'
import { type Scope, scopes } from '../../plugins/shared/identity/scopes.ts'
import { type Choice, callerOf, goodPassword, modelLists, type Step, sessionOf } from './choice.ts'
import type { Login } from './model.ts'
import type { World } from './world.ts'

/** What a climber adds to a body: the own rights, those of others, and more of what costs. */
const climbs = (world: World, choice: Choice): object => {
  const other = choice.of(world.model.people)
  return choice.of([
    { user: other.id, user_id: other.id, owner: other.name },
    { role: 'admin', service: false, disabled: false },
    { limits: [], team: null, external_id: 'x' },
    { id: choice.of(world.model.keys).id },
  ])
}

/** Requests of people with a browser. */
export const sessionSteps: Readonly<Record<string, Step>> = {
  async createToken(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, false)
    const wanted = choice.of<readonly Scope[] | undefined>([
      undefined,
      choice.some(scopes),
      choice.some(scopes.slice(0, 4)),
    ])
    const models = choice.of(modelLists)
    const expiresAt = choice.number(3) === 0 ? world.model.now + 1_000 * (1 + choice.number(60)) : undefined
    const body = {
      ...climbs(world, choice),
      ...(wanted && { scopes: wanted }),
      ...(models && { models }),
      ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
    }
    const { status, json } = await world.ask(caller, 'POST', '/api/tokens', body)
    if ('status' in allowed) return expect(status).toBe(allowed.status)
    const given = wanted ?? ['media', 'text', 'video']
    const climbing = given.includes('admin') || given.includes('provision')
    expect(status).toBe(climbing ? 400 : 200)
    if (climbing) return
    const { id, token } = json.token
    world.knowKey({ id, owner: allowed.login.owner, scopes: given, models, expiresAt }, token)
  },

  async listTokens(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, true)
    const { status, json } = await world.ask(caller, 'GET', '/api/tokens')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('status' in allowed) return
    const { keys, now } = world.model
    const own = keys.filter(
      ({ owner, revoked, expiresAt }) => owner === allowed.login.owner && !revoked && (expiresAt ?? Infinity) > now,
    )
    expect(json.tokens.map(({ id }: { readonly id: string }) => id).sort()).toEqual(own.map(({ id }) => id).sort())
  },

  async revokeToken(world, choice) {
    const [caller, key] = [sessionOf(world, choice), choice.of(world.model.keys)]
    const allowed = world.model.bySession(caller, false)
    const { status } = await world.ask(caller, 'DELETE', `/api/tokens/${key.id}`)
    const own = 'login' in allowed && allowed.login.owner === key.owner
    expect(status).toBe('status' in allowed ? allowed.status : own ? 200 : 404)
    if (own) key.revoked = true
  },

  async showAccount(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, true)
    const { status, json } = await world.ask(caller, 'GET', '/api/account')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('login' in allowed) {
      const { id, name, role } = allowed.login.owner
      expect(json.account).toEqual({ id, name, role, team: null, login: 'password' })
    }
  },

  async changePassword(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, false)
    const owner = caller.kind === 'session' ? caller.login.owner : undefined
    const current = choice.of([owner?.password, owner?.password, 'wrong', choice.of(world.model.people).password])
    const password = choice.of([goodPassword(), goodPassword(), 'short', owner?.name ?? 'short'])
    const body = { ...climbs(world, choice), current_password: current ?? 'none', password }
    const { status } = await world.ask(caller, 'PATCH', '/api/account', body)
    if ('status' in allowed) return expect(status).toBe(allowed.status)
    const { login } = allowed
    const isGood = password.startsWith('good')
    const isRight = current === login.owner.password
    expect(status).toBe(isGood ? (isRight ? 200 : 403) : 400)
    if (status !== 200) return
    login.owner.password = password
    world.model.endLogins(login.owner, login)
    world.model.endLinks(login.owner)
  },

  async listSessions(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, true)
    const { status, json } = await world.ask(caller, 'GET', '/api/account/sessions')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('status' in allowed) return
    const own = world.model.logins.filter((login) => login.owner === allowed.login.owner && !login.ended)
    expect(json.sessions.map((session: { readonly id: string }) => session.id).sort()).toEqual(
      own.map(({ id }) => id).sort(),
    )
  },

  async endSession(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, false)
    const login: Login | undefined = world.model.logins.length > 0 ? choice.of(world.model.logins) : undefined
    const { status } = await world.ask(caller, 'DELETE', `/api/account/sessions/${login?.id ?? 'none'}`)
    const own = 'login' in allowed && login !== undefined && !login.ended && login.owner === allowed.login.owner
    expect(status).toBe('status' in allowed ? allowed.status : own ? 200 : 404)
    if (own) login.ended = true
  },

  async endOtherSessions(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, false)
    const { status } = await world.ask(caller, 'DELETE', '/api/account/sessions')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('login' in allowed) world.model.endLogins(allowed.login.owner, allowed.login)
  },

  async logIn(world, choice) {
    const owner = choice.of(world.model.people)
    const password = choice.of([owner.password, owner.password, 'wrong', choice.of(world.model.people).password])
    const { status } = await world.logIn(owner, password)
    const right = owner.enabled && owner.password !== undefined && password === owner.password
    expect(status).toBe(right ? 200 : 401)
  },

  async logOut(world, choice) {
    const caller = sessionOf(world, choice)
    const allowed = world.model.bySession(caller, false)
    const { status } = await world.ask(caller, 'DELETE', '/api/session')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('login' in allowed) allowed.login.ended = true
  },

  async redeemInvitation(world, choice) {
    if (world.model.links.length === 0) return
    const [caller, link] = [callerOf(world, choice), choice.of(world.model.links)]
    const path = `/api/invitations/${link.secret}`
    const works = world.model.linkWorks(link)
    expect((await world.ask(caller, 'GET', path)).status).toBe(works ? 200 : 404)
    const foreign = caller.kind === 'session' && caller.foreign
    const password = choice.of([goodPassword(), 'short'])
    const { status } = await world.ask(caller, 'POST', path, { ...climbs(world, choice), password })
    expect(status).toBe(works ? (foreign ? 403 : password === 'short' ? 400 : 200) : 404)
    if (status !== 200) return
    link.owner.password = password
    world.model.endLogins(link.owner)
    world.model.endLinks(link.owner)
  },
}
