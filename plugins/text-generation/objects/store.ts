import type { Amounts } from '../../usage-limits/index.ts'
import type { RoomCheck } from './room.ts'

/** Kinds of objects in the upstream's account whose owners the gateway records. */
export type ObjectKind = 'response' | 'conversation' | 'item'

/** An object of the upstream's account, and its owner. Times are milliseconds since 1970. */
export interface TextObject {
  readonly kind: ObjectKind
  readonly id: string
  readonly user: string
  /** Id of the API token, if there was one. */
  readonly token?: string
  /** URL of the upstream that stores it. */
  readonly upstream: string
  /** Model name in the caller's request. */
  readonly model: string
  /**
   * Groups of the persons whose assets it shows, or what it continues. They are at most 100. Undefined: none.
   */
  readonly persons?: readonly string[]
  readonly createdAt: number
  /** From then on it has no owner. */
  readonly expiresAt: number
  /** When to poll a background response whose usage is not recorded yet. */
  readonly dueAt?: number
}

/** The holder of what a background response has reserved of limits, see `UsageReservation.hold`. */
export const holderOfResponse = (id: string): string => `response:${id}`

/** Store port: the owners of objects. Every method rejects when the store does not respond in time. */
export interface TextObjectStore extends RoomCheck {
  /**
   * Records objects in one transaction, and returns those that already belong to another user, which it leaves
   * unchanged. A record of the same owner is replaced, except that its persons stay, and those of the object are added
   * to them: several responses may add to one conversation at once.
   */
  recordTextObjects(objects: readonly TextObject[]): Promise<readonly Pick<TextObject, 'kind' | 'id'>[]>
  /** The object, if it belongs to the user. An unknown object and a foreign one take the same query. */
  findTextObject(user: string, kind: ObjectKind, id: string, now: number): Promise<TextObject | undefined>
  /** Removes an object of a user. */
  removeTextObject(object: Pick<TextObject, 'kind' | 'id' | 'user'>): Promise<void>
  /** Responses that are due for a poll, the longest overdue first. */
  dueTextResponses(now: number, max: number): Promise<readonly TextObject[]>
  /** Postpones a due response. False when another process has done so, or its usage is recorded. */
  deferTextResponse(due: TextObject, until: number): Promise<boolean>
  /**
   * Marks the usage of a response as recorded, and settles in the same transaction what the response holds of limits
   * (`holderOfResponse`). A unit that is absent from `used` is booked as it was held. True for exactly one caller among
   * all processes.
   */
  markUsageRecorded(id: string, used?: Amounts): Promise<boolean>
  /**
   * What a background response holds of limits stays its own until `markUsageRecorded`. Absent: it is given back after
   * a minute.
   */
  keepResponseHold?(id: string): Promise<void>
  /** Removes up to `max` expired objects. Returns their number. */
  sweepTextObjects(now: number, max: number): Promise<number>
}
