import { hash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { peerAddressOf } from '../client-address.ts'

/** Who waits for a turn. */
export interface RequestCaller {
  /** Id of a user, or of a credential of which no user is known, or the address of a peer that sends none. */
  readonly key: string
  readonly isUser: boolean
}

/** A symbol property of the request: a WeakMap entry costs ten times as much. */
const credential = Symbol('id of the credential')

type WithCredential = Request & { [credential]?: string }

/**
 * Remembers whose credentials the requests have that had to wait, so that all credentials of a user count as one
 * caller before they are checked.
 *
 * It decides the order of requests only. A revoked credential may count as its user's for a while.
 */
export class Callers {
  readonly #clock: Pick<Clock, 'now'>
  /** By id of a credential: those of requests of the last one or two minutes. */
  #recent = new Map<string, string>()
  #older = new Map<string, string>()
  #recentUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** The caller of a request that waits. */
  of(request: WithCredential | undefined): RequestCaller {
    const sent = request && credentialOf(request)
    if (!request || sent === undefined)
      return { key: `peer ${(request && peerAddressOf(request)) ?? ''}`, isUser: false }
    // Not the credential itself: it may be long, and must not stay in memory.
    const id = hash('sha256', sent, 'base64')
    request[credential] = id
    const user = this.#recent.get(id) ?? this.#older.get(id)
    return user === undefined ? { key: id, isUser: false } : { key: user, isUser: true }
  }

  /** Notes the user of a request. Returns the id of its credential if it was not known as the user's. */
  identified(request: WithCredential, user: string): string | undefined {
    const id = request[credential]
    if (id === undefined || this.#recent.get(id) === user) return undefined
    const wasKnown = this.#older.get(id) === user
    const now = this.#clock.now()
    if (now >= this.#recentUntil || this.#recent.size >= maxCredentials) {
      this.#older = now >= this.#recentUntil + keepMs ? new Map() : this.#recent
      this.#recent = new Map()
      this.#recentUntil = now + keepMs
    }
    this.#recent.set(id, user)
    return wasKnown ? undefined : id
  }
}

/** Credentials in each of the two maps. One takes about 200 bytes. */
const maxCredentials = 10_000
const keepMs = 60_000

const credentialOf = (request: Request): string | undefined => {
  try {
    const { headers } = request
    return (
      headers.get('authorization') ??
      headers.get('x-api-key') ??
      headers.get('api-key') ??
      headers.get('cookie') ??
      undefined
    )
  } catch {
    // A header is invalid; the app rejects the request.
    return undefined
  }
}
