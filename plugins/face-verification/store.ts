import type { Group } from '../ownership/index.ts'
import type { VerificationKind } from '../upstream-proxy/index.ts'
import type { StatusPath, VerificationStatus } from './status.ts'

/**
 * The store ports of `face-verification`. Every method rejects when the store does not respond within its own deadline;
 * none hangs.
 */

/** A face verification. Times are milliseconds since 1970. */
export interface Verification {
  readonly id: string
  /** Id of its creator, the only user who may see it. */
  readonly user: string
  /** How its upstream verifies faces. */
  readonly kind: VerificationKind
  readonly status: VerificationStatus
  /**
   * `ark`: the upstream's token for the session. A secret that no response contains. Undefined once the verification
   * has ended.
   */
  readonly token?: string
  /** The account of the upstream that has it, and gets its group. Undefined: the first, or the only one. */
  readonly account?: string | undefined
  /** Undefined until the status is `verified`. */
  readonly group?: string
  readonly createdAt: number
  readonly expiresAt: number
  /** When the background polling polls it next; undefined: never. */
  readonly dueAt?: number
  /** Polls without a result since the callback, or since the creation when there was no callback. */
  readonly polls: number
}

/** A face verification to be stored. Times are milliseconds since 1970. */
export interface NewVerification extends Omit<Verification, 'polls' | 'group'> {
  readonly dueAt: number
  /** `ark`: hash of the state in the callback's address. */
  readonly stateHash?: string
  /** `ark`: hash of the secret in the link by which the person withdraws the consent. */
  readonly linkHash?: string
}

/** Counts as an open verification of a user while the upstream creates it. Times are milliseconds since 1970. */
export interface Reservation {
  readonly id: string
  readonly user: string
  readonly createdAt: number
  /** From then on it no longer counts, also when it was never released. */
  readonly expiresAt: number
}

/** Stores face verifications. A verification is open while it has neither ended nor expired. */
export interface VerificationStore {
  /**
   * Adds a reservation, unless the user has `max` open verifications and reservations already. Atomic across processes.
   *
   * Returns undefined when it was added, else the time at which the first of them expires (milliseconds since 1970).
   */
  reserveVerification(reservation: Reservation, max: number): Promise<number | undefined>
  releaseReservation(id: string): Promise<void>
  /**
   * Adds a verification in place of its reservation, where there is one. False when another user has a verification
   * with that id.
   */
  addVerification(verification: NewVerification, reserved?: string): Promise<boolean>
  verification(id: string): Promise<Verification | undefined>
  /** The verification whose callback state has that hash. */
  verificationByState(hash: string): Promise<Verification | undefined>
  /**
   * Moves a verification from its place on a path to the path's last status, in one transaction. False when its status
   * is not on the path, or is the last one already.
   *
   * A final status clears `dueAt` and the token. `change.dueAt` sets `dueAt` and resets `polls` to 0.
   */
  moveVerification(id: string, path: StatusPath, change?: { group?: string; dueAt?: number }): Promise<boolean>
  /**
   * Leases a verification until `until` or its release. Undefined when it is leased already, does not exist, or is
   * never due.
   */
  leaseVerification(id: string, now: number, until: number): Promise<Verification | undefined>
  /**
   * Releases the lease that ends at `until`; does nothing when another process holds a newer one. The verification
   * cannot be leased before `notBefore`, and is due at `dueAt` (undefined: never). When `moveVerification` has set
   * another `dueAt` meanwhile, that one stays and `notBefore` does not apply.
   */
  releaseVerification(
    leased: Pick<Verification, 'id' | 'dueAt'>,
    until: number,
    next: { readonly notBefore: number; readonly dueAt: number | undefined; readonly polls: number },
  ): Promise<void>
  /**
   * Ids of at most `max` verifications that are due and not leased: first those after the callback, then the ones that
   * are due longest.
   */
  dueVerifications(kind: VerificationKind, now: number, max: number): Promise<readonly string[]>
  /** When the next verification is due or its lease ends (milliseconds since 1970); undefined when none will be due. */
  nextVerificationDue(kind: VerificationKind): Promise<number | undefined>
  /**
   * Deletes the oldest that were created before that time (milliseconds since 1970), at most `max`. Returns their
   * number.
   */
  deleteVerifications(before: number, max: number): Promise<number>
}

/** The owners of groups: the part of the `ownership` store that face verification needs. */
export interface FaceGroupStore {
  group(id: string): Promise<{ readonly user: string; readonly type: string } | undefined>
  /** Records a group with its owner. Returns the conflict when it cannot, undefined when it has. */
  adoptGroup(group: Omit<Group, 'description' | 'dated'>): Promise<'group taken' | 'name taken' | undefined>
}
