import { createHash, randomBytes } from 'node:crypto'
import type { Identity } from '../shared/identify.ts'
import { Problem } from '../shared/problem.ts'
import { RevocationWatch } from '../shared/revocation.ts'
import { createCookies } from './cookie.ts'
import { type PublicUrl, readPublicUrl } from './origin.ts'
import type { LoginUser, SessionStore } from './store.ts'

export interface SessionOptions {
  readonly store: SessionStore
  /** Sign the cookie: the first signs, all verify. Give the same ones to every process. */
  readonly secrets: readonly [string, ...string[]]
  /** The address that browsers use. With https, the cookie is `Secure`. */
  readonly publicUrl: PublicUrl
  /** How long a session lives unused, to the minute. Milliseconds, default 30 minutes. */
  readonly idleMs?: number
  /** How long a session lives in any case. Milliseconds, default 12 hours. */
  readonly absoluteMs?: number
  /** Sessions of one user; a login beyond them ends the oldest. From 1, default 20. */
  readonly maxSessions?: number
  /** Name of the cookie, default `session`. Two plugins under one host name need two. */
  readonly cookieName?: string
  /** Milliseconds since 1970. Default the system's clock. */
  readonly now?: () => number
}

/** Who has a session. */
export interface SessionIdentity extends Identity {
  /** The user's name, for people. */
  readonly name: string
}

/** Sessions, each known by 256 random bits in a cookie, of which only the hash is kept. */
export interface Sessions {
  /** Undefined for no session, one that ended, a cookie that is not ours, or two. Throws Problem 500 when the store cannot be asked. */
  identify(request: Request): Promise<SessionIdentity | undefined>
  /** A new session, in place of any that the request has. The `Set-Cookie` header; undefined when the user was disabled meanwhile. */
  begin(request: Request, user: LoginUser & { readonly password: string }): Promise<string | undefined>
  /** Ends what sessions the request has. The `Set-Cookie` header. */
  end(request: Request): Promise<string>
}

const longestTouchMs = 60_000

/**
 * Nothing is remembered: every request asks the store, for one row by its key. So a session that was ended, wherever, is over at once, and a logout
 * costs no process what it remembers of tokens and groups. People do not click fast enough for it to matter.
 */
export const createSessions = (options: SessionOptions): Sessions => {
  const { store, secrets, publicUrl, now = Date.now, cookieName = 'session' } = options
  const { idleMs = 1_800_000, absoluteMs = 43_200_000, maxSessions = 20 } = options
  if (!(maxSessions >= 1)) throw new TypeError('a user must be able to have a session')
  if (!(idleMs > 0 && absoluteMs > 0)) throw new TypeError('a session must live for more than nothing')
  // What is known of it already must be an address; a function is asked later.
  if (typeof publicUrl === 'string') readPublicUrl(publicUrl)
  const secure = () => readPublicUrl(publicUrl).protocol === 'https:'
  const cookies = createCookies({ name: cookieName, secrets, secure })
  /** A use is written down when the last one written is older: reading must not cost a write each time. */
  const touchMs = Math.min(longestTouchMs, Math.floor(idleMs / 30))

  const watch = new RevocationWatch({
    holds: async (hash) => {
      const found = await store.session(hash)
      return found !== undefined && now() < found.endsAt
    },
    everyMs: 450,
  })

  return {
    async identify(request) {
      const id = cookies.read(request)
      if (id === undefined) return undefined
      const hash = hashOf(id)
      const time = now()
      const found = await fromStore(store.session(hash))
      if (!found || time >= found.idleUntil) return undefined
      const idleUntil = Math.min(time + idleMs, found.endsAt)
      if (idleUntil - found.idleUntil > touchMs) await fromStore(store.touchSession(hash, idleUntil))
      return new KnownSession(found, hash, watch)
    },

    async begin(request, { id: user, password }) {
      const id = randomBytes(32).toString('base64url')
      const createdAt = now()
      const endsAt = createdAt + absoluteMs
      const idleUntil = Math.min(createdAt + idleMs, endsAt)
      const session = { hash: hashOf(id), user, password, createdAt, idleUntil, endsAt }
      if (!(await fromStore(store.addSession(session, cookies.readAll(request).map(hashOf), maxSessions))))
        return undefined
      return cookies.issue(id, Math.floor(absoluteMs / 1000))
    },

    async end(request) {
      for (const id of cookies.readAll(request)) await fromStore(store.endSession(hashOf(id)))
      return cookies.clear()
    },
  }
}

class KnownSession implements SessionIdentity {
  readonly user: string
  readonly name: string
  readonly #hash: string
  readonly #watch: RevocationWatch

  constructor({ user, name }: Pick<SessionIdentity, 'user' | 'name'>, hash: string, watch: RevocationWatch) {
    this.user = user
    this.name = name
    this.#hash = hash
    this.#watch = watch
  }

  whenRevoked(end: () => void): () => void {
    return this.#watch.add(this.#hash, end)
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex')

/** Throws Problem 500 for what a store throws. */
export const fromStore = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
  try {
    return await answer
  } catch (cause) {
    throw new Problem(500, 'session could not be checked', { cause })
  }
}
