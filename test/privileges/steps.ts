import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { type Scope, scopes } from '../../plugins/shared/identity/scopes.ts'
import { hashInvitation } from '../../plugins/web-session/index.ts'
import type { Caller, Key, Login, Person, Thing } from './model.ts'
import type { World } from './world.ts'

const seed = 'doubao-seed-emulated'
const wide = 'emulated-wide'
const video = 'doubao-seedance-2-0-260128'
const fast = 'doubao-seedance-2-0-fast-260128'
const modelLists = [undefined, undefined, [seed], ['doubao-*'], [wide, fast], ['no-such-model']]
const good = () => `good password ${randomUUID()}`

/** Choices by the numbers of a random test case. */
export class Choice {
  readonly #numbers: number[]

  constructor(numbers: readonly number[]) {
    this.#numbers = [...numbers]
  }

  number(below: number): number {
    return (this.#numbers.shift() ?? 0) % below
  }

  of<Value>(values: readonly Value[]): Value {
    const value = values[this.number(values.length)]
    if (value === undefined && values.length === 0) throw new Error('nothing to choose from')
    return value as Value
  }

  some<Value>(values: readonly Value[]): readonly Value[] {
    const bits = 1 + this.number(2 ** values.length - 1)
    return values.filter((_, index) => (bits >> index) % 2 === 1)
  }
}

/** One step: a request, or a change by an operator, with what the model expects of it. */
export type Step = (world: World, choice: Choice) => Promise<void>

const callerOf = ({ model }: World, choice: Choice): Caller => {
  const kind = choice.number(20)
  if (kind === 0) return { kind: 'nobody' }
  if (kind > 15 && model.logins.length > 0)
    return { kind: 'session', login: choice.of(model.logins), foreign: kind === 19 }
  const working = model.keys.filter((key) => key.secrets.some((secret) => model.secretWorks(key, secret)))
  const key = choice.of(kind > 4 && working.length > 0 ? working : model.keys)
  return { kind: 'token', key, secret: choice.of([...key.secrets, ...key.secrets, ...key.past]) }
}

const sessionOf = (world: World, choice: Choice): Caller => {
  const kind = choice.number(10)
  const { model } = world
  const working = model.logins.filter((login) => model.loginWorks(login))
  if (kind < 7 && working.length > 0) return { kind: 'session', login: choice.of(working), foreign: false }
  if (kind < 9 && model.logins.length > 0)
    return { kind: 'session', login: choice.of(model.logins), foreign: kind === 7 }
  return callerOf(world, choice)
}

/** Requests with an API token. */
const tokenSteps: Readonly<Record<string, Step>> = {
  async chat(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([seed, wide])]
    const allowed = world.model.byToken(caller, 'text', false)
    const body = { model, messages: [{ role: 'user', content: 'hi' }] }
    const { status } = await world.ask(caller, 'POST', '/v1/chat/completions', body)
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
  },

  async countTokens(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([seed, wide])]
    const allowed = world.model.byToken(caller, 'text', true)
    const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
    const { status } = await world.ask(caller, 'POST', '/v1/messages/count_tokens', body)
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
  },

  async listModels(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'text', true)
    const { status, json } = await world.ask(caller, 'GET', '/v1/models')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('status' in allowed) return
    const ids = json.data.map(({ id }: { readonly id: string }) => id)
    for (const id of ids) expect([id, world.model.permits(allowed.key, id)]).toEqual([id, true])
    expect(ids.includes(seed)).toBe(world.model.permits(allowed.key, seed))
    const one = await world.ask(caller, 'GET', `/v1/models/${wide}`)
    expect(one.status).toBe(world.model.permits(allowed.key, wide) ? 200 : 404)
  },

  async createVideo(world, choice) {
    const [caller, model] = [callerOf(world, choice), choice.of([video, fast])]
    const allowed = world.model.byToken(caller, 'video', false)
    const native = choice.number(2) === 0
    const { status, json } = native
      ? await world.ask(caller, 'POST', '/api/v3/contents/generations/tasks', {
          ...{ model, content: [{ type: 'text', text: 'a cat' }] },
        })
      : await world.ask(caller, 'POST', '/v1/videos', { model, prompt: 'a cat' })
    expect(status).toBe('status' in allowed ? allowed.status : world.model.permits(allowed.key, model) ? 200 : 404)
    if (status === 200 && 'key' in allowed)
      world.model.things.push({ kind: 'video', id: json.id, owner: allowed.key.owner, gone: false })
  },

  async createGroup(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'media', false)
    const { status, json } = await world.ask(caller, 'POST', '/api/media/proxy/assets/groups', { Name: randomUUID() })
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    if ('key' in allowed) {
      const id = json.Result?.Id ?? json.Id
      world.model.things.push({ kind: 'group', id, owner: allowed.key.owner, gone: false })
    }
  },

  async lookAtThing(world, choice) {
    const things = world.model.things.filter(({ kind, gone }) => kind !== 'webhook' && !gone)
    if (things.length === 0) return
    const [caller, thing] = [callerOf(world, choice), choice.of(things)]
    const family = thing.kind === 'video' ? 'video' : 'media'
    const allowed = world.model.byToken(caller, family, true)
    const { status } = await world.ask(caller, 'GET', pathOf(thing, choice))
    if ('status' in allowed) expect(status).toBe(allowed.status)
    else if (allowed.key.owner === thing.owner) expect(status).toBe(200)
    else expect([403, 404]).toContain(status)
  },

  async deleteThing(world, choice) {
    const things = world.model.things.filter(({ kind, gone }) => kind === 'group' && !gone)
    if (things.length === 0) return
    const [caller, thing] = [callerOf(world, choice), choice.of(things)]
    const allowed = world.model.byToken(caller, 'media', false)
    const { status } = await world.ask(caller, 'DELETE', pathOf(thing, choice))
    if ('status' in allowed) expect(status).toBe(allowed.status)
    else if (allowed.key.owner === thing.owner) {
      expect(status).toBe(200)
      thing.gone = true
    } else expect([403, 404]).toContain(status)
  },

  async listThings(world, choice) {
    const caller = callerOf(world, choice)
    const allowed = world.model.byToken(caller, 'media', true)
    const { status, text } = await world.ask(caller, 'GET', '/api/media/proxy/assets/groups?PageNumber=1&PageSize=100')
    expect(status).toBe('status' in allowed ? allowed.status : 200)
    for (const { kind, id, owner, gone } of world.model.things)
      if (kind === 'group') expect(text.includes(id)).toBe('key' in allowed && allowed.key.owner === owner && !gone)
  },

  /** No credential of a route is enough for those of another. */
  async wrongRoute(world, choice) {
    const caller = callerOf(world, choice)
    if (caller.kind === 'session')
      expect((await world.ask(caller, 'GET', choice.of(['/v1/models', '/v1/videos']))).status).toBe(401)
    if (caller.kind === 'token')
      for (const path of ['/api/account', '/api/tokens', '/api/account/sessions', '/api/usage'])
        expect((await world.ask(caller, 'GET', path)).status).toBe(401)
  },
}

const pathOf = ({ kind, id }: Thing, choice: Choice): string => {
  if (kind === 'group') return `/api/media/proxy/assets/groups/${id}`
  return choice.number(2) === 0 ? `/api/v3/contents/generations/tasks/${id}` : `/v1/videos/${id}`
}

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
const sessionSteps: Readonly<Record<string, Step>> = {
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
    const password = choice.of([good(), good(), 'short', owner?.name ?? 'short'])
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
    const password = choice.of([good(), 'short'])
    const { status } = await world.ask(caller, 'POST', path, { ...climbs(world, choice), password })
    expect(status).toBe(works ? (foreign ? 403 : password === 'short' ? 400 : 200) : 404)
    if (status !== 200) return
    link.owner.password = password
    world.model.endLogins(link.owner)
    world.model.endLinks(link.owner)
  },
}

/** What operators do on the port of the admin API: `now`, as the last enabled admin may go. */
const operatorSteps: Readonly<Record<string, Step>> = {
  async changeRole(world, choice) {
    const person = choice.of(world.model.people)
    const role = choice.of(['user', 'admin'] as const)
    expect(await world.store.changeUser(person.id, { role }, { now: world.model.now })).toBe('changed')
    person.role = role
  },

  async disable(world, choice) {
    const person = choice.of(world.model.people)
    expect(await world.store.changeUser(person.id, { disabled: true }, { now: world.model.now })).toBe('changed')
    person.enabled = false
    world.model.endLogins(person)
    world.model.endLinks(person)
  },

  async enable(world, choice) {
    const person = choice.of(world.model.people)
    expect(await world.store.changeUser(person.id, { disabled: false }, { now: world.model.now })).toBe('changed')
    person.enabled = true
    world.model.endLogins(person)
  },

  async setPassword(world, choice) {
    const person = choice.of(world.model.people)
    const password = good()
    const outcome = await world.store.changeUser(person.id, { password: `#${password}` }, { now: world.model.now })
    expect(outcome).toBe(person.service ? 'service' : 'changed')
    if (person.service) return
    person.password = password
    world.model.endLogins(person)
    world.model.endLinks(person)
  },

  async addKey(world, choice) {
    const expiresAt = choice.number(3) === 0 ? world.model.now + 1_000 * (1 + choice.number(60)) : undefined
    await world.addKey(choice.of(world.model.people), choice.some(scopes), choice.of(modelLists), expiresAt)
  },

  async changeKey(world, choice) {
    const key = choice.of(world.model.keys)
    const [wanted, models] = [choice.some(scopes), choice.of(modelLists)]
    const outcome = await world.store.changeToken(key.id, { scopes: wanted, models: models ?? null })
    expect(outcome).toBe(key.revoked ? 'unknown' : 'changed')
    if (key.revoked) return
    key.scopes = wanted
    key.models = models
  },

  async rotateKey(world, choice) {
    const key = choice.of(world.model.keys)
    const [text, overlapMs] = [createToken(), 1_000 * choice.of([0, 5, 30])]
    const { now } = world.model
    const rotation = { hash: hashToken(text), start: text.slice(0, 9), now, oldUntil: now + overlapMs }
    expect(await world.store.rotateToken(key.id, rotation)).toBe(key.revoked ? 'unknown' : 'changed')
    if (!key.revoked) world.model.rotate(key, text, overlapMs)
  },

  async revokeKey(world, choice) {
    const key = choice.of(world.model.keys)
    expect(await world.store.revokeUserToken(key.id, world.model.now)).toBe(key.revoked ? 'unknown' : 'changed')
    key.revoked = true
  },

  async invite(world, choice) {
    const owner: Person = choice.of(world.model.people)
    const { now } = world.model
    const [secret, expiresAt] = [randomUUID(), now + 1_000 * (1 + choice.number(60))]
    const invitation = { hash: hashInvitation(secret), createdAt: now, expiresAt }
    const outcome = await world.store.addInvitation(owner.id, invitation)
    expect(outcome).toBe(owner.service ? 'service' : owner.enabled ? 'added' : 'disabled')
    if (outcome !== 'added') return
    world.model.endLinks(owner)
    world.model.links.push({ secret, owner, expiresAt, ended: false })
  },

  async endSessions(world, choice) {
    const owner = choice.of(world.model.people)
    await world.store.endSessions(owner.id)
    world.model.endLogins(owner)
  },

  async timePasses(world, choice) {
    world.model.now += 1_000 * choice.of([1, 4, 9, 30, 61])
  },
}

/** All steps, by name. */
export const steps: Readonly<Record<string, Step>> = { ...tokenSteps, ...sessionSteps, ...operatorSteps }

/** The names of all steps, some of them more often: those of people, who climb, and a login, which most of them need. */
export const stepNames: readonly string[] = [
  ...[...Object.keys(tokenSteps), ...Object.keys(sessionSteps), ...Object.keys(sessionSteps)],
  ...[...Object.keys(operatorSteps), 'logIn', 'logIn', 'logIn', 'enable', 'chat', 'invite'],
]

/** People of every kind, each with a token and a session, and the names of a few keys of an admin. */
export const addInitialPeople = async (world: World): Promise<void> => {
  const people = [await world.addPerson('user'), await world.addPerson('user'), await world.addPerson('admin')]
  const service = await world.addPerson('user', true)
  for (const person of people) {
    await world.addKey(person, ['media', 'text', 'video'], undefined)
    await world.logIn(person, person.password)
  }
  await world.addKey(service, ['text', 'read'], [seed])
  await world.addKey(people[2] as Person, ['admin', 'provision'], undefined)
  await world.addKey(people[0] as Person, ['read'], undefined)
}

export type { Key }
