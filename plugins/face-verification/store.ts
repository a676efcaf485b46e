import type { StatusPath, VerificationStatus } from './status.ts'

/** The ports: what `face-verification` asks of a store. Every method rejects when the store cannot be asked within its own deadline; none ever hangs. */

/** Who runs the states: the upstream (`rest`), or the gateway (`ark`). */
export type VerificationKind = 'rest' | 'ark'

/** A face verification. Times are milliseconds since 1970. */
export interface Verification {
  readonly id: string
  /** Its creator, the only one who may see it. */
  readonly user: string
  readonly kind: VerificationKind
  readonly status: VerificationStatus
  /** `ark`: what the upstream knows it by, a secret that nobody is shown. Undefined once it is over. */
  readonly token?: string
  /** Undefined until it is verified. */
  readonly group?: string
  readonly createdAt: number
  readonly expiresAt: number
  /** When it is to be looked at next, whoever asks or does not; undefined when that would be no use any more. */
  readonly dueAt?: number
  /** How often it was looked at in vain since the person's browser came back, or since its creation. */
  readonly asks: number
}

export interface NewVerification extends Omit<Verification, 'asks' | 'group'> {
  readonly dueAt: number
  /** `ark`: hash of what the callback's address carries. */
  readonly stateHash?: string
}

/** A place among a user's open verifications, while the upstream is asked to begin one. Times are milliseconds since 1970. */
export interface Reservation {
  readonly id: string
  readonly user: string
  readonly createdAt: number
  /** From then on it counts no more, whatever has become of it. */
  readonly expiresAt: number
}

export interface VerificationStore {
  /**
   * Undefined when the place was taken; else, the user having `most` open ones and places already, when the first of them ends at the latest. However many are
   * begun at once, in whatever process. Open is what has neither ended nor expired.
   */
  reserveVerification(reservation: Reservation, most: number): Promise<number | undefined>
  releaseReservation(id: string): Promise<void>
  /** In the place that was reserved, where one was. False when another user has one of that id. */
  addVerification(verification: NewVerification, reserved?: string): Promise<boolean>
  verification(id: string): Promise<Verification | undefined>
  /** The one whose callback carries the state with that hash. */
  verificationByState(hash: string): Promise<Verification | undefined>
  /**
   * Goes the rest of a way in one step, from wherever on it the verification stands. False when it does not stand on it, or at its end already. One that
   * ends is due no more, and its token is forgotten; `dueAt` makes it due then, as if never looked at.
   */
  moveVerification(id: string, way: StatusPath, change?: { group?: string; dueAt?: number }): Promise<boolean>
  /** Gives the verification to one who looks at it, until then or its release. Undefined when somebody has it, it does not exist, or is never due. */
  leaseVerification(id: string, now: number, until: number): Promise<Verification | undefined>
  /**
   * Gives back what was leased until `until`, unless others have it by now. It cannot be leased before `restUntil`, and is due at `dueAt` (undefined: never).
   * Where it became due anew meanwhile, that stays, and it does not rest.
   */
  releaseVerification(
    leased: Pick<Verification, 'id' | 'dueAt'>,
    until: number,
    next: { readonly restUntil: number; readonly dueAt: number | undefined; readonly asks: number },
  ): Promise<void>
  /** Ids of those that are due and not leased; first those whose person has come back, then by how long they are due. */
  dueVerifications(kind: VerificationKind, now: number, most: number): Promise<readonly string[]>
  /** When the next one falls due, or its lease ends; undefined when there is none. */
  nextVerificationDue(kind: VerificationKind): Promise<number | undefined>
  /** Forgets all that were created before. */
  deleteVerifications(before: number): Promise<void>
}

/** Whose groups are whose, as `ownership` has it. */
export interface FaceGroupStore {
  group(id: string): Promise<{ readonly user: string; readonly type: string } | undefined>
  /** Makes a group somebody's own; says why when it may not be. */
  adoptGroup(group: {
    readonly id: string
    readonly user: string
    readonly type: string
    readonly name: string
    readonly createdAt: number
  }): Promise<'group taken' | 'name taken' | undefined>
}
