import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { hashToken } from '../../plugins/api-token/index.ts'
import { tokenOf } from '../../plugins/api-token/token.ts'
import { type Role, type Scope, scopes } from '../../plugins/shared/identity/scopes.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { addUser, openAdmin } from '../admin-api/fixture.ts'
import { migratedDatabase, repeatedDatabases, type TestDatabase } from '../support/database.ts'
import { AdminModel, type ModelToken } from './admin-model.ts'
import { anySteps, perform, type Step } from './admin-steps.ts'

/** The users and tokens at the start: each role with each scope that matters, and two admins. */
const start: readonly (readonly [Role, readonly Scope[]])[] = [
  ['admin', ['admin']],
  ['admin', ['provision']],
  ['admin', ['media', 'text', 'video', 'read']],
  ['user', ['media', 'text', 'video', 'read']],
  ['user', [...scopes]],
]

/** @param admins how many of the first users are admins */
const openModel = async (store: Store, admins: number) => {
  // Without a cache: what a change has taken away is gone at once.
  const api = await openAdmin(store, {
    identify: async (request) => {
      const token = tokenOf(request.headers)
      return token === undefined ? undefined : store.ownerOf(hashToken(token))
    },
  })
  const model = new AdminModel()
  for (const [nth, [first, given]] of start.entries()) {
    const role = nth < admins ? first : 'user'
    const { id, name, token, tokenId } = await addUser(store, role, given)
    model.users.set(id, { id, name, role, disabled: false, service: false, limits: undefined, team: undefined })
    model.tokens.set(tokenId, {
      ...{ id: tokenId, user: id, secret: token, scopes: scopes.filter((scope) => given.includes(scope)) },
      ...{ models: undefined, limits: undefined, revoked: false },
    })
  }
  return { api, model }
}

export const pick = <Item>(items: readonly Item[], number: number): Item => items[number % items.length] as Item

/** Everything that the store has, in the form of the model. */
const stateOf = async (store: Store, model: AdminModel) => {
  const users = (await store.listAdminUsers({}, { limit: 200 })).items
  const tokens = (await Promise.all([...model.tokens.keys()].map((id) => store.adminToken(id)))).filter(
    (token) => token !== undefined,
  )
  const listed = (await store.listTokens()).length
  return {
    users: users.map(({ id, name, role, disabledAt, service, limits, team }) => ({
      ...{ id, name, role, disabled: disabledAt !== undefined, service, limits, team },
    })),
    tokens: tokens.map(({ id, user, scopes: given, models, limits, revokedAt }) => ({
      ...{ id, user, scopes: given, models, limits, revoked: revokedAt !== undefined },
    })),
    listed,
    teams: (await store.listTeams({ limit: 200 })).items.map(({ id, name }) => [id, name]),
  }
}

const expectedState = (model: AdminModel) => ({
  users: [...model.users.values()],
  tokens: [...model.tokens.values()].map(({ secret: _, ...token }: ModelToken) => token),
  listed: model.tokens.size,
  teams: [...model.teams].map(([id, { name }]) => [id, name]),
})

const sorted = <State extends Awaited<ReturnType<typeof stateOf>>>(state: State) => ({
  ...state,
  users: state.users.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  tokens: state.tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  teams: state.teams.toSorted(),
})

const run = async (kind: TestDatabase['kind'], admins: number, steps: readonly Step[]) => {
  const made = await migratedDatabase(kind)
  const store = openStore(made.url, { deadlineMs: 60_000 })
  try {
    await store.migrate()
    const { api, model } = await openModel(store, admins)
    for (const step of steps) {
      const actor = pick([...model.tokens.values()], step.actor)
      const power = model.powerOf(actor)
      const user = pick([...model.users.values()], step.target)
      const token = pick([...model.tokens.values()], step.target)
      const call = api.with(actor.secret)
      const { answer, expected } = await perform({ model, call, power, step, user, token })
      expect([step.action, power, answer.status, answer.text]).toEqual([step.action, power, expected, answer.text])
      // Who is not admitted learns nothing.
      if (expected === 401 || expected === 403) expect(answer.text).not.toMatch(/[\da-f]{8}-[\da-f]{4}|Name-|sk-/)
      expect(sorted(await stateOf(store, model))).toEqual(sorted(expectedState(model)))
    }
  } finally {
    await store.close()
    await made.remove()
  }
}

/** What random steps rarely try: the only admin is demoted, and disabled. */
const lastAdminGoes = (['setRole', 'disable'] as const).map((action) => ({
  ...{ actor: 0, target: 0, name: 0, role: 'user' as const, scopes: [], limit: 0, action },
}))

/** Declares the test of so many random sequences on each database. */
export const testAdminApi = (sequences: Readonly<Record<TestDatabase['kind'], number>>): void => {
  for (const kind of repeatedDatabases)
    test(`nobody sees or changes by the admin API what the rules forbid (${kind})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(1, 3), anySteps, (admins, steps) => run(kind, admins, steps)),
        // A shorter example would take minutes to find, and each step says what it did.
        { numRuns: sequences[kind], endOnFailure: true, examples: [[1, lastAdminGoes]] },
      )
    }, 300_000)
}
