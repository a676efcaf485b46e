/**
 * The store ports of `web-session`. Every method rejects when the store does not respond within its own deadline; none
 * hangs.
 */

import type { CredentialUse } from '../shared/identity/credential-use.ts'
import type { Role } from '../shared/identity/scopes.ts'

/** A user who may log in. Times are milliseconds since 1970. */
export interface LoginUser {
  readonly id: string
  readonly name: string
  /** Hash of the password, in the format of `verify`. A user without one cannot log in with a password. */
  readonly password?: string
  /** When the user was disabled. A disabled user cannot log in. */
  readonly disabledAt?: number
}

/** A session to be stored. Times are milliseconds since 1970. */
export interface NewSession {
  /** Hex SHA-256 of the id in the cookie. */
  readonly hash: string
  /** Random id, which may be shown. */
  readonly id: string
  /** Id of its user. */
  readonly user: string
  /** The user's name at the login. */
  readonly name: string
  /** The user's password hash at the login. The session ends when the user gets another one. Undefined: none. */
  readonly password?: string | undefined
  readonly createdAt: number
  /** When it ends unless a request extends it. Never after `endsAt`. */
  readonly idleUntil: number
  /** When it ends, used or not. */
  readonly endsAt: number
  /** The browser, as it calls itself: at most 256 characters. */
  readonly userAgent?: string | undefined
}

/** A stored session. Times are milliseconds since 1970. */
export interface Session {
  /** The id that may be shown. Undefined: the store keeps none. */
  readonly id?: string
  /** Id of its user. */
  readonly user: string
  /** The user's name. */
  readonly name: string
  /** The user's role. Undefined: the users have no roles. */
  readonly role?: Role
  readonly idleUntil: number
  readonly endsAt: number
}

/** Stores users and their sessions. */
export interface SessionStore {
  /** The user of that name, also when disabled. Whether case matters is up to the store. */
  userByName(name: string): Promise<LoginUser | undefined>
  /**
   * Adds a session, ends the sessions with the hashes `ended`, and ends the user's oldest sessions beyond `max`. One
   * transaction, atomic across processes.
   *
   * Returns false, and changes nothing, when the user does not exist, is disabled, is a service user, or has another
   * password hash by now.
   */
  addSession(session: NewSession, ended?: readonly string[], max?: number): Promise<boolean>
  /**
   * The session with that hash. Undefined when it was ended, or its user is disabled or has another password hash. May
   * return an expired session.
   */
  session(hash: string): Promise<Session | undefined>
  /** Sets `idleUntil`, unless the stored one is later, and the time of the last use. */
  touchSession(hash: string, idleUntil: number, usedAt?: number): Promise<void>
  endSession(hash: string): Promise<void>
  /** Notes that a user with a session is active, about once a minute. It must return at once. Optional. */
  noteUse?(use: CredentialUse): void
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
