import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../shared/clock.ts'
import { type PublicUrl, readPublicUrl } from '../shared/http/origin.ts'
import type { Identity } from '../shared/identity/identify.ts'
import { RevocationWatch } from '../shared/identity/revocation.ts'
import { createCookies } from '../shared/login/cookie.ts'
import {
  checkAbove0,
  checkCollaborator,
  checkCookieName,
  checkPublicUrl,
  checkSecrets,
} from '../shared/plugin/options.ts'
import { storeCall } from '../shared/store-call.ts'
import type { LoginUser, SessionStore } from './store.ts'

export interface SessionOptions {
  readonly store: SessionStore
  /**
   * Secrets of at least 16 characters for the cookie's signature: the first signs, every one verifies. All processes
   * need the same ones.
   */
  readonly secrets: readonly string[]
  /** The address that browsers use. With https, the cookie is `Secure`. */
  readonly publicUrl: PublicUrl
  /**
   * A session ends after this time without a request, with a tolerance of at most a minute. Milliseconds, default 30
   * minutes.
   */
  readonly idleMs?: number
  /** A session ends this time after the login, used or not. Milliseconds, default 12 hours. */
  readonly absoluteMs?: number
  /** Sessions that one user may have; one more login ends the oldest. From 1, default 20. */
  readonly maxSessions?: number
  /** Name of the cookie, default `session`. Two instances on one host need different names. */
  readonly cookieName?: string
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/** The user of a session. */
export interface SessionIdentity extends Identity {
  /** The user's login name. */
  readonly name: string
  /** Id of the session, which may be shown. Undefined: the store keeps none. */
  readonly session?: string
}

/** Sessions. The cookie holds a random id of 256 bits; the store holds only its hash. */
export interface Sessions {
  /**
   * The user of the request's session. Undefined without a valid session, and for two session cookies. Throws Problem
   * 500 when the store fails.
   */
  identify(request: Request): Promise<SessionIdentity | undefined>
  /**
   * Starts a session, and ends the request's own ones. Returns the `Set-Cookie` header; undefined when the user may no
   * longer log in.
   */
  begin(request: Request, user: LoginUser): Promise<string | undefined>
  /** Ends the request's sessions. Returns the `Set-Cookie` header. */
  end(request: Request): Promise<string>
}

const maxTouchMs = 60_000

/**
 * Creates the sessions. There is no cache: every request reads one row by its key. So the end of a session takes effect
 * at once in every process. Only people in a browser use sessions, so the request rate is low.
 */
export const createSessions = (options: SessionOptions): Sessions => {
  const { store, secrets, publicUrl, clock = systemClock, cookieName = 'session' } = options
  const { idleMs = 1_800_000, absoluteMs = 43_200_000, maxSessions = 20 } = options
  if (!(maxSessions >= 1)) throw new TypeError('maxSessions must be at least 1')
  checkAbove0({ idleMs, absoluteMs })
  checkCollaborator('store', store)
  checkSecrets(secrets)
  checkPublicUrl(publicUrl)
  checkCookieName(cookieName)
  const secure = () => readPublicUrl(publicUrl).protocol === 'https:'
  const cookies = createCookies({ name: cookieName, secrets, secure })
  /** The store gets the new idle deadline at most this often, so that not every request costs a write. */
  const touchMs = Math.min(maxTouchMs, Math.floor(idleMs / 30))

  const watch = new RevocationWatch({
    holds: async (hash) => {
      const found = await store.session(hash)
      return found !== undefined && clock.now() < found.endsAt
    },
    everyMs: 450,
  })

  return {
    async identify(request) {
      const id = cookies.read(request)
      if (id === undefined) return undefined
      const hash = hashOf(id)
      const time = clock.now()
      const found = await storeCall(store.session(hash), sessionNotChecked)
      if (!found || time >= found.idleUntil) return undefined
      const idleUntil = Math.min(time + idleMs, found.endsAt)
      if (idleUntil - found.idleUntil > touchMs) {
        store.noteUse?.({ user: found.user, at: time })

        await storeCall(store.touchSession(hash, idleUntil, time), sessionNotChecked)
      }
      // A plain object, so that a handler may return it as JSON.
      const { user, name, role, id: session } = found
      return {
        ...{ user, name, whenRevoked: (end) => watch.add(hash, end) },
        ...(role !== undefined && { role }),
        ...(session !== undefined && { session }),
      }
    },

    async begin(request, { id: user, name, password }) {
      const id = randomBytes(32).toString('base64url')
      const createdAt = clock.now()
      const endsAt = createdAt + absoluteMs
      const idleUntil = Math.min(createdAt + idleMs, endsAt)
      const session = {
        ...{ hash: hashOf(id), id: randomUUID(), user, name, password, createdAt, idleUntil, endsAt },
        userAgent: userAgentOf(request),
      }
      const ended = cookies.readAll(request).map(hashOf)
      const added = await storeCall(store.addSession(session, ended, maxSessions), sessionNotChecked)
      if (!added) return undefined
      return cookies.issue(id, Math.floor(absoluteMs / 1000))
    },

    async end(request) {
      for (const id of cookies.readAll(request)) await storeCall(store.endSession(hashOf(id)), sessionNotChecked)
      return cookies.clear()
    },
  }
}

const maxUserAgent = 256

/** The browser, as it calls itself, without what a database would not keep or a page should not show. */
const userAgentOf = ({ headers }: Request): string | undefined =>
  headers
    .get('user-agent')
    ?.slice(0, maxUserAgent)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ') || undefined

const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex')

/** The message when the store fails. */
export const sessionNotChecked = 'session could not be checked'
