import fc from 'fast-check'
import { type Role, type Scope, scopes } from '../../plugins/shared/identity/scopes.ts'
import type { Answer, Call } from '../admin-api/fixture.ts'
import { type AdminModel, hasAdminScope, type ModelToken, type ModelUser, type Power } from './admin-model.ts'

/** One request. Numbers choose among the objects that exist. */
export type Step = {
  readonly actor: number
  readonly target: number
  readonly name: number
  readonly role: Role
  readonly scopes: readonly Scope[]
  readonly limit: number
  readonly action: keyof typeof actions
}

/** What a step works with. */
export interface StepContext {
  readonly model: AdminModel
  readonly call: Call
  readonly power: Power
  readonly step: Step
  readonly user: ModelUser
  readonly token: ModelToken
}

type Action = (context: StepContext) => Promise<{ readonly answer: Answer; readonly expected: number }>

const limitsOf = ({ limit }: Step) => [{ unit: 'streams', amount: limit }]
const nameOf = ({ name }: Step) => `Name-${name}`

const changeUser =
  (bodyOf: (context: StepContext) => object, apply: (context: StepContext) => number): Action =>
  async (context) => {
    const { model, power, user, call } = context
    const answer = await call('PATCH', `/users/${user.id}`, { body: bodyOf(context) })
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if (power === 'provision' && user.role === 'admin') return { answer, expected: 403 }
    return { answer, expected: apply(context) }
  }

const changeToken =
  (
    method: string,
    path: (token: ModelToken) => string,
    bodyOf: (context: StepContext) => object | undefined,
    apply: (context: StepContext, answer: Answer) => number,
  ): Action =>
  async (context) => {
    const { model, power, token, call } = context
    const body = bodyOf(context)
    const answer = await call(method, path(token), body && { body })
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    const wanted = (body as { scopes?: readonly Scope[] } | undefined)?.scopes
    if (power === 'provision' && wanted && hasAdminScope(wanted)) return { answer, expected: 403 }
    if (token.revoked) return { answer, expected: 404 }
    if (model.isOutOfReach(power, token)) return { answer, expected: 403 }
    return { answer, expected: apply(context, answer) }
  }

/** A request that changes nothing. */
const look =
  (path: (context: StepContext) => string, area: 'people' | 'operation', method = 'GET', status = 200): Action =>
  async (context) => {
    const answer = await context.call(method, path(context), method === 'GET' ? {} : { body: {} })
    return { answer, expected: context.model.rejectionOf(context.power, area) ?? status }
  }

const actions = {
  listUsers: look(() => '/users?limit=200', 'people'),
  readUser: look(({ user }) => `/users/${user.id}`, 'people'),
  listTokens: look(({ user }) => `/users/${user.id}/tokens`, 'people'),
  listAllTokens: look(({ user }) => `/tokens?user=${user.id}`, 'people'),
  readLimits: look(({ user }) => `/users/${user.id}/limits`, 'people'),
  listTeams: look(() => '/teams', 'people'),
  readUsage: look(() => '/usage', 'operation'),
  readAudit: look(() => '/audit', 'operation'),
  readSettings: look(() => '/settings', 'operation'),
  readUpstreams: look(() => '/upstreams', 'operation'),
  readActivity: look(() => '/activity', 'operation', 'GET', 404),
  readAlerts: look(() => '/alerts', 'operation'),
  verifyAudit: look(() => '/audit/verification', 'operation'),
  giveGroup: look(() => '/groups/adopt', 'operation', 'POST', 400),
  importUsers: look(() => '/users/import', 'operation', 'POST', 415),
  listVideos: look(() => '/videos', 'operation'),
  listGroups: look(() => '/groups/pending', 'operation'),
  listBatches: look(() => '/batches', 'operation'),
  cancelBatch: look(() => '/batches/none/cancel', 'operation', 'POST', 404),
  listConsents: look(() => '/consents', 'operation'),
  readConsent: look(() => '/consents/none', 'operation', 'GET', 404),
  exportConsent: look(() => '/consents/none/export', 'operation', 'GET', 404),
  withdrawConsent: look(() => '/consents/none/withdraw', 'operation', 'POST', 404),
  deleteConsent: look(() => '/consents/none/delete', 'operation', 'POST', 404),
  releaseVideo: look(() => '/videos/none/release', 'operation', 'POST', 404),
  releaseGroup: look(() => '/groups/pending/none/release', 'operation', 'POST', 404),
  noRoute: look(() => '/everything', 'operation', 'POST', 404),

  addUser: async ({ model, call, power, step }) => {
    const name = nameOf(step)
    const answer = await call('POST', '/users', { body: { name, role: step.role, limits: limitsOf(step) } })
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if (power === 'provision' && step.role === 'admin') return { answer, expected: 403 }
    if (model.isNameTaken(name)) return { answer, expected: 409 }
    const id = answer.body.user?.id
    const limits = JSON.stringify(limitsOf(step))
    model.users.set(id, { id, name, role: step.role, disabled: false, service: false, limits, team: undefined })
    return { answer, expected: 200 }
  },

  setRole: changeUser(
    ({ step }) => ({ role: step.role }),
    ({ model, power, step, user }) => {
      if (power === 'provision' && step.role === 'admin') return 403
      if (step.role === 'user' && model.isLastAdmin(user)) return 409
      user.role = step.role
      return 200
    },
  ),
  disable: changeUser(
    () => ({ disabled: true }),
    ({ model, user }) => {
      if (model.isLastAdmin(user)) return 409
      user.disabled = true
      return 200
    },
  ),
  enable: changeUser(
    () => ({ disabled: false }),
    ({ user }) => {
      user.disabled = false
      return 200
    },
  ),
  setLimits: changeUser(
    ({ step }) => ({ limits: limitsOf(step) }),
    ({ user, step }) => {
      user.limits = JSON.stringify(limitsOf(step))
      return 200
    },
  ),
  rename: changeUser(
    ({ step }) => ({ name: nameOf(step) }),
    ({ model, user, step }) => {
      if (model.isNameTaken(nameOf(step), user)) return 409
      user.name = nameOf(step)
      return 200
    },
  ),
  // A field that no user has: the service flag, and the id.
  makeService: async ({ model, power, user, call }) => {
    const answer = await call('PATCH', `/users/${user.id}`, { body: { service: true, id: 'mine', role: 'admin' } })
    return { answer, expected: model.rejectionOf(power, 'people') ?? 400 }
  },
  invite: async ({ model, power, user, call }) => {
    const answer = await call('POST', `/users/${user.id}/invitation`)
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if (power === 'provision' && user.role === 'admin') return { answer, expected: 403 }
    return { answer, expected: user.disabled ? 409 : 200 }
  },
  logOut: async ({ model, power, user, call }) => {
    const answer = await call('DELETE', `/users/${user.id}/sessions`)
    const rejected = model.rejectionOf(power, 'people')
    return { answer, expected: rejected ?? (power === 'provision' && user.role === 'admin' ? 403 : 200) }
  },

  addToken: async ({ model, power, user, call, step }) => {
    const answer = await call('POST', `/users/${user.id}/tokens`, { body: { scopes: step.scopes } })
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if (power === 'provision' && (user.role === 'admin' || hasAdminScope(step.scopes))) return { answer, expected: 403 }
    const { id, token: secret } = answer.body.token ?? {}
    const ordered = scopes.filter((scope) => step.scopes.includes(scope))
    model.tokens.set(id, {
      ...{ id, user: user.id, secret, scopes: ordered, models: undefined, limits: undefined, revoked: false },
    })
    return { answer, expected: 200 }
  },
  setScopes: changeToken(
    'PATCH',
    ({ id }) => `/tokens/${id}`,
    ({ step }) => ({ scopes: step.scopes }),
    ({ token, step }) => {
      token.scopes = scopes.filter((scope) => step.scopes.includes(scope))
      return 200
    },
  ),
  setModels: changeToken(
    'PATCH',
    ({ id }) => `/tokens/${id}`,
    ({ step }) => ({ models: step.limit % 2 ? null : ['gpt-*'], limits: limitsOf(step) }),
    ({ token, step }) => {
      token.models = step.limit % 2 ? undefined : ['gpt-*']
      token.limits = JSON.stringify(limitsOf(step))
      return 200
    },
  ),
  // A token cannot be given to another user.
  reown: async ({ model, power, user, token, call }) => {
    const answer = await call('PATCH', `/tokens/${token.id}`, { body: { user: user.id } })
    return { answer, expected: model.rejectionOf(power, 'people') ?? 400 }
  },
  rotate: changeToken(
    'POST',
    ({ id }) => `/tokens/${id}/rotate`,
    () => undefined,
    ({ token }, answer) => {
      token.secret = answer.body.token?.token
      return 200
    },
  ),
  revoke: changeToken(
    'DELETE',
    ({ id }) => `/tokens/${id}`,
    () => undefined,
    ({ token }) => {
      token.revoked = true
      return 200
    },
  ),

  addTeam: async ({ model, power, call, step }) => {
    const answer = await call('POST', '/teams', { body: { name: nameOf(step) } })
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if ([...model.teams.values()].some(({ name }) => name === nameOf(step))) return { answer, expected: 409 }
    model.teams.set(answer.body.team?.id, { name: nameOf(step) })
    return { answer, expected: 200 }
  },
  joinTeam: changeUser(
    ({ model, step }) => ({ team: teamOf(model, step) ?? null }),
    ({ model, user, step }) => {
      user.team = teamOf(model, step)
      return 200
    },
  ),
  deleteTeam: async ({ model, power, call, step }) => {
    const id = teamOf(model, step) ?? 'none'
    const answer = await call('DELETE', `/teams/${id}`)
    const rejected = model.rejectionOf(power, 'people')
    if (rejected) return { answer, expected: rejected }
    if (!model.teams.has(id)) return { answer, expected: 404 }
    if ([...model.users.values()].some(({ team }) => team === id)) return { answer, expected: 409 }
    model.teams.delete(id)
    return { answer, expected: 200 }
  },
} satisfies Record<string, Action>

const teamOf = (model: AdminModel, { target }: Step): string | undefined =>
  [...model.teams.keys()][target % (model.teams.size + 1)]

/** Performs a step, and changes the model as the rules allow it. */
export const perform = (context: StepContext): ReturnType<Action> => actions[context.step.action](context)

/** Random steps. */
export const anySteps = fc.array(
  fc.record({
    actor: fc.nat(),
    // Often the first user: a sequence in which that is the only admin must try to remove it.
    target: fc.oneof({ arbitrary: fc.nat(), weight: 3 }, { arbitrary: fc.constant(0), weight: 1 }),
    name: fc.nat({ max: 12 }),
    role: fc.constantFrom<Role>('user', 'admin'),
    scopes: fc.subarray([...scopes], { minLength: 1 }),
    limit: fc.nat({ max: 9 }),
    action: fc.constantFrom(...(Object.keys(actions) as (keyof typeof actions)[])),
  }),
  { minLength: 60, maxLength: 120 },
)
