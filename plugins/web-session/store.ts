/** The ports: what `web-session` asks of a store. Every method rejects when the store cannot be asked within its own deadline; none ever hangs. */

/** Somebody who may log in. Times are milliseconds since 1970. */
export interface LoginUser {
  readonly id: string
  readonly name: string
  /** Hash of the password, as `verify` understands it; a user without one cannot log in. */
  readonly password?: string
  /** A disabled user cannot log in either. */
  readonly disabledAt?: number
}

/** A session that has begun. Times are milliseconds since 1970. */
export interface NewSession {
  /** Hex SHA-256 of what the cookie says. */
  readonly hash: string
  /** Id of its user. */
  readonly user: string
  /** The hash of the password that was given: with another password, the session is over. */
  readonly password: string
  readonly createdAt: number
  /** When it ends unless it is used. Never after `endsAt`. */
  readonly idleUntil: number
  /** When it ends in any case. */
  readonly endsAt: number
}

export interface Session {
  /** Id of its user. */
  readonly user: string
  /** The user's name. */
  readonly name: string
  readonly idleUntil: number
  readonly endsAt: number
}

export interface SessionStore {
  /** The user of exactly that name, disabled ones too. */
  userByName(name: string): Promise<LoginUser | undefined>
  /**
   * Keeps a session, and ends those with the hashes given, and the user's oldest where there would be more than `most`, however many begin at once: all or nothing.
   * False, and nothing, when there is no such user, or none that may log in by now.
   */
  addSession(session: NewSession, ended?: readonly string[], most?: number): Promise<boolean>
  /** Undefined when it was ended, when its user is disabled, or has another password than the one it began with. One out of time may be returned. */
  session(hash: string): Promise<Session | undefined>
  /** Moves `idleUntil`, never back. */
  touchSession(hash: string, idleUntil: number): Promise<void>
  endSession(hash: string): Promise<void>
}

/** One try to log in, which is counted under every one of its keys. */
export interface Attempt {
  /** Random: marks what this attempt has counted. */
  readonly id: string
  /** One to four, always in the same order of kinds: name, then networks, the smallest first. Of the first ones, more is counted when two race. */
  readonly counters: readonly [Counter, ...Counter[]]
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Counter {
  /** A hash of what is counted. */
  readonly key: string
  /** So many failures have no consequence but the counting. From 1. */
  readonly free: number
  /** The counter starts anew when there was no failure for so long. Milliseconds, more than `mostMs`. */
  readonly forgetMs: number
  /** How long after the last free failure nothing is let through; doubled with every further one. Milliseconds. */
  readonly firstMs: number
  /** The longest such delay. Milliseconds. */
  readonly mostMs: number
}

export interface AttemptStore {
  /**
   * Counts a failure in advance, under all the keys or none, in one step: of many at once no more get through than are free. Undefined when it was
   * counted, else when one may come again (milliseconds since 1970). What is refused is not counted, so that a delay never grows while it lasts.
   */
  takeAttempt(attempt: Attempt): Promise<number | undefined>
  /** Takes back what the attempt has counted; all that was ever counted under the key `cleared`. */
  returnAttempt(attempt: Attempt, cleared?: string): Promise<void>
}
