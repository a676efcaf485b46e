/**
 * The store ports of `web-session`. Every method rejects when the store does not respond within its own deadline; none
 * hangs.
 */

/** A user who may log in. Times are milliseconds since 1970. */
export interface LoginUser {
  readonly id: string
  readonly name: string
  /** Hash of the password, in the format of `verify`. A user without one cannot log in. */
  readonly password?: string
  /** When the user was disabled. A disabled user cannot log in. */
  readonly disabledAt?: number
}

/** A session to be stored. Times are milliseconds since 1970. */
export interface NewSession {
  /** Hex SHA-256 of the id in the cookie. */
  readonly hash: string
  /** Id of its user. */
  readonly user: string
  /** The user's name at the login. */
  readonly name: string
  /** The user's password hash at the login. The session ends when the user gets another one. */
  readonly password: string
  readonly createdAt: number
  /** When it ends unless a request extends it. Never after `endsAt`. */
  readonly idleUntil: number
  /** When it ends, used or not. */
  readonly endsAt: number
}

/** A stored session. Times are milliseconds since 1970. */
export interface Session {
  /** Id of its user. */
  readonly user: string
  /** The user's name. */
  readonly name: string
  readonly idleUntil: number
  readonly endsAt: number
}

/** Stores users and their sessions. */
export interface SessionStore {
  /** The user with exactly that name, also when disabled. */
  userByName(name: string): Promise<LoginUser | undefined>
  /**
   * Adds a session, ends the sessions with the hashes `ended`, and ends the user's oldest sessions beyond `max`. One
   * transaction, atomic across processes.
   *
   * Returns false, and changes nothing, when the user does not exist, is disabled, or has another password hash by now.
   */
  addSession(session: NewSession, ended?: readonly string[], max?: number): Promise<boolean>
  /**
   * The session with that hash. Undefined when it was ended, or its user is disabled or has another password hash. May
   * return an expired session.
   */
  session(hash: string): Promise<Session | undefined>
  /** Sets `idleUntil`, unless the stored one is later. */
  touchSession(hash: string, idleUntil: number): Promise<void>
  endSession(hash: string): Promise<void>
}

/** A login attempt, which is counted by each of its counters. */
export interface Attempt {
  /** Random id, which marks the counts of this attempt. */
  readonly id: string
  /**
   * One to five counters, always in the same order: those of the name, then the networks, the smallest first.
   *
   * When two attempts race, the first counters may count more.
   */
  readonly counters: readonly [Counter, ...Counter[]]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A counter of failed logins. Durations are milliseconds. */
export interface Counter {
  /** Hash of the name, device or network that is counted. */
  readonly key: string
  /** Failures without a delay. From 1. */
  readonly free: number
  /** The count restarts at 0 after this time without a failure. Longer than `maxMs`. */
  readonly forgetMs: number
  /** Delay after the last free failure. It doubles with every further failure. */
  readonly firstMs: number
  /** The longest delay. */
  readonly maxMs: number
}

/** Counts failed logins. */
export interface AttemptStore {
  /**
   * Counts an attempt as failed before it runs, in all its counters or in none. Atomic: concurrent attempts cannot
   * exceed the free failures.
   *
   * Returns undefined when it was counted, else when the delay ends (milliseconds since 1970). A rejected attempt is
   * not counted, so attempts during a delay do not extend it. A counter whose delay ends more than twice `maxMs` from
   * now is reset: it comes from a clock that was ahead.
   */
  takeAttempt(attempt: Attempt): Promise<number | undefined>
  /** Takes back the counts of the attempt. Resets the counter with the key `cleared`, where one is given. */
  revertAttempt(attempt: Attempt, cleared?: string): Promise<void>
}
