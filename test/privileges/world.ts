import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createToken, hashToken, identifyByToken } from '../../plugins/api-token/index.ts'
import type { FetchHandler } from '../../plugins/concurrency-limits/index.ts'
import { RevisionClock } from '../../plugins/shared/identity/revision-clock.ts'
import type { Role, Scope } from '../../plugins/shared/identity/scopes.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { identifyBySession } from '../../plugins/web-session/index.ts'
import { createApp } from '../../src/app.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { type Caller, type Key, type Login, Model, type Person } from './model.ts'
import { silentLog } from './silent-log.ts'

const publicUrl = 'https://sluice.test'
const secrets = ['a secret of the test suite'] as const

/** A response that has been read. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  readonly json: any
  readonly text: string
  readonly cookie: string
}

/** A defect in an otherwise correct server. */
export interface Fault {
  /** What the processes use instead of the store. */
  readonly store?: Store
  readonly around?: (handle: FetchHandler) => FetchHandler
}

/** Two processes on one database, and the model of what their users may do. */
export class World {
  readonly model = new Model()
  readonly #apps: readonly FetchHandler[]
  #turn = 0

  constructor(
    readonly store: Store,
    emulator: Emulator,
    /** Planted in both processes. */
    fault: Fault = {},
  ) {
    const { around = (handle) => handle } = fault
    this.#apps = [0, 1].map(() => around(this.#open(fault.store ?? store, emulator)))
  }

  #open(store: Store, emulator: Emulator): FetchHandler {
    const clock = { now: () => this.model.now, at: () => () => {} }
    // Each use waits for the revision: what another process has changed a second ago is known.
    const revisionClock = new RevisionClock((since) => store.revision(since), { refreshAfterMs: 0, staleAfterMs: 0 })
    const identify = identifyByToken({ store, revisionClock, clock })
    const session = { store, secrets, publicUrl, clock, idleMs: 1e9, absoluteMs: 1e9 }
    const free = { freePerName: 1e9, freePerAddress: 1e9 }
    return createApp({
      gateway: { kind: rest(emulator.rest), store, identify, revisionClock, secrets },
      text: { upstreams: [emulator.text], identify },
      video: { upstream: emulator.video, store, identify, identifierSecret: 'a secret of the test suite' },
      people: {
        ...{ ...session, throttle: free, maxTokens: 1e6, face: {} },
        hash: async (password) => `#${password}`,
        verify: async (password, hash) => hash === `#${password}`,
      },
      events: { store, identify, webhooks: { store, publicUrl, identify: identifyBySession(session) } },
      limits: {},
      health: { database: () => store.ready(), draining: () => false },
      metricsToken: undefined,
      log: silentLog,
    })
  }

  async ask(caller: Caller, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = new Headers(body === undefined ? {} : { 'content-type': 'application/json' })
    if (caller.kind === 'token') headers.set('authorization', `Bearer ${caller.secret.text}`)
    if (caller.kind === 'session') {
      headers.set('cookie', caller.login.cookie)
      headers.set('origin', caller.foreign ? 'https://evil.test' : publicUrl)
    }
    const app = this.#apps[this.#turn++ % this.#apps.length] as FetchHandler
    const text = body === undefined ? undefined : JSON.stringify(body)
    const response = await app(new Request(`http://localhost${path}`, { method, headers, body: text ?? null }))
    const answer = await response.text()
    return {
      status: response.status,
      text: answer,
      json: answer.startsWith('{') ? JSON.parse(answer) : undefined,
      cookie: response.headers.get('set-cookie')?.split(';', 1)[0] ?? '',
    }
  }

  async addPerson(role: Role, service = false): Promise<Person> {
    const name = `p-${randomUUID()}`
    const password = service ? undefined : `first ${name}`
    const added = await this.store.addAdminUser({
      ...{ name, role, service, createdAt: this.model.now },
      password: password && `#${password}`,
    })
    if (typeof added === 'string') throw new Error(added)
    const person: Person = { id: added.id, name, service, role, enabled: true, password }
    this.model.people.push(person)
    return person
  }

  async addKey(owner: Person, scopes: readonly Scope[], models: Key['models'], expiresAt?: number): Promise<Key> {
    const text = createToken()
    const token = {
      hash: hashToken(text),
      start: text.slice(0, 9),
      scopes,
      models,
      expiresAt,
      createdAt: this.model.now,
    }
    const added = await this.store.addUserToken(owner.id, token)
    if (typeof added === 'string') throw new Error(added)
    return this.knowKey({ id: added.id, owner, scopes, models, expiresAt }, text)
  }

  knowKey(key: Pick<Key, 'id' | 'owner' | 'scopes' | 'models' | 'expiresAt'>, text: string): Key {
    const known = { ...key, revoked: false, secrets: [{ text, until: undefined }], past: [] }
    this.model.keys.push(known)
    return known
  }

  async logIn(owner: Person, password: string | undefined): Promise<Answer> {
    const answer = await this.ask({ kind: 'nobody' }, 'POST', '/api/session', {
      ...{ name: owner.name, password: password ?? 'none' },
    })
    if (answer.status === 200) {
      const login: Login = { cookie: answer.cookie, owner, id: '', ended: false }
      const known = this.model.logins.map(({ id }) => id)
      const sessions = await this.store.listSessions(owner.id, this.model.now)
      login.id = sessions.find(({ id }) => !known.includes(id))?.id ?? ''
      this.model.logins.push(login)
    }
    return answer
  }

  /** Compares the whole state of the users in the database with that of the model. */
  async check(): Promise<void> {
    const { people, keys, logins, now } = this.model
    for (const person of people) {
      const { id, name, role, enabled, password } = person
      const user = await this.store.adminUser(id)
      const shown = user && { ...user, disabledAt: undefined, createdAt: 0, lastActiveAt: undefined }
      expect(shown).toEqual({
        ...{ id, name, role, service: person.service, createdAt: 0, disabledAt: undefined, lastActiveAt: undefined },
        login: password === undefined ? 'none' : 'password',
      })
      expect([name, user?.disabledAt === undefined]).toEqual([name, enabled])
      expect((await this.store.account(id))?.password).toBe(password && `#${password}`)
      const { items } = await this.store.listUserTokens(id, { limit: 1_000 })
      expect(
        items.map((token) => [token.id, [...token.scopes].sort(), token.models, token.expiresAt, token.limits]).sort(),
      ).toEqual(
        keys
          .filter(({ owner }) => owner === person)
          .map((key) => [key.id, [...key.scopes].sort(), key.models, key.expiresAt, undefined])
          .sort(),
      )
      for (const token of items)
        expect(token.revokedAt !== undefined).toBe(keys.some((key) => key.id === token.id && key.revoked))
      const sessions = await this.store.listSessions(id, now)
      expect(sessions.map((session) => session.id).sort()).toEqual(
        logins
          .filter(({ owner, ended }) => owner === person && !ended)
          .map((login) => login.id)
          .sort(),
      )
    }
  }
}

export const openEmulator = (): Promise<Emulator> =>
  startEmulator({ processingMs: 0, video: { queuedMs: 0, runningMs: 1e9, maxQueued: 1e6 } })
