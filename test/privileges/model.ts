import { permitsModel } from '../../plugins/shared/identity/models.ts'
import type { RouteFamily } from '../../plugins/shared/identity/require-scope.ts'
import type { Role, Scope } from '../../plugins/shared/identity/scopes.ts'

/** A user of the model. Times are milliseconds since 1970. */
export interface Person {
  readonly id: string
  readonly name: string
  readonly service: boolean
  role: Role
  enabled: boolean
  password: string | undefined
}

/** A token. */
export interface Key {
  readonly id: string
  readonly owner: Person
  scopes: readonly Scope[]
  models: readonly string[] | undefined
  expiresAt: number | undefined
  revoked: boolean
  /** The newest one is the last. */
  secrets: Secret[]
  /** Those that a rotation has ended. */
  readonly past: Secret[]
}

export interface Secret {
  readonly text: string
  readonly until: number | undefined
}

/** A session. */
export interface Login {
  readonly cookie: string
  readonly owner: Person
  id: string
  ended: boolean
}

/** An invitation. */
export interface Link {
  readonly secret: string
  readonly owner: Person
  readonly expiresAt: number
  ended: boolean
}

/** An object of a user. */
export interface Thing {
  readonly kind: 'group' | 'video' | 'webhook'
  readonly id: string
  readonly owner: Person
  gone: boolean
}

/** Who sends a request. */
export type Caller =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'token'; readonly key: Key; readonly secret: Secret }
  /** `foreign`: from a page of another origin. */
  | { readonly kind: 'session'; readonly login: Login; readonly foreign: boolean }

/** Who may do what, written without a look at the program: the contract's roles, scopes and owners. */
export class Model {
  readonly people: Person[] = []
  readonly keys: Key[] = []
  readonly logins: Login[] = []
  readonly links: Link[] = []
  readonly things: Thing[] = []
  now = 1_800_000_000_000

  secretWorks(key: Key, secret: Secret): boolean {
    const kept = key.secrets.find(({ text }) => text === secret.text)
    const ends = [key.expiresAt, kept?.until].filter((end) => end !== undefined)
    return !key.revoked && key.owner.enabled && kept !== undefined && ends.every((end) => this.now < end)
  }

  loginWorks({ ended, owner }: Login): boolean {
    return !ended && owner.enabled
  }

  linkWorks({ ended, owner, expiresAt }: Link): boolean {
    return !ended && owner.enabled && this.now < expiresAt
  }

  /** The user of a request to a route for tokens, or the status that it gets. */
  byToken(caller: Caller, family: RouteFamily, reads: boolean): { readonly key: Key } | { readonly status: 401 | 403 } {
    if (caller.kind !== 'token' || !this.secretWorks(caller.key, caller.secret)) return { status: 401 }
    const { scopes, owner } = caller.key
    const isAdminRoute = family === 'admin' || family === 'provision'
    if (isAdminRoute && owner.role !== 'admin') return { status: 403 }
    const suffices =
      scopes.includes(family) ||
      (family === 'provision' && scopes.includes('admin')) ||
      (!isAdminRoute && reads && scopes.includes('read'))
    return suffices ? { key: caller.key } : { status: 403 }
  }

  /** The same for a route of a person with a browser. */
  bySession(caller: Caller, reads: boolean): { readonly login: Login } | { readonly status: 401 | 403 } {
    if (caller.kind !== 'session' || !this.loginWorks(caller.login)) return { status: 401 }
    return caller.foreign && !reads ? { status: 403 } : { login: caller.login }
  }

  permits(key: Key, model: string): boolean {
    return permitsModel(key.models, model)
  }

  endLogins(owner: Person, except?: Login): void {
    for (const login of this.logins) if (login.owner === owner && login !== except) login.ended = true
  }

  endLinks(owner: Person): void {
    for (const link of this.links) if (link.owner === owner) link.ended = true
  }

  /** A new secret. The one before works for the overlap, and older ones end. */
  rotate(key: Key, text: string, overlapMs: number): void {
    const before = key.secrets.at(-1)
    key.past.push(...key.secrets)
    const kept = before && overlapMs > 0 ? [{ ...before, until: this.now + overlapMs }] : []
    key.secrets = [...kept, { text, until: undefined }]
  }
}
