/** An event: something of a user has changed. */
export interface StoredEvent {
  /** Events become visible in the order of their numbers. A number may be missing for ever. */
  readonly sequence: number
  /** Random, so that it does not reveal how many events other users have. */
  readonly id: string
  readonly user: string
  /** For example `video.succeeded`. */
  readonly type: string
  /** A JSON object. */
  readonly data: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The store port of the event stream. Its methods reject when the store is unavailable. */
export interface EventStore {
  /** The number of the newest event of all users. 0: there was none. */
  newestEvent(): Promise<number>
  /** The events of all users after that number, oldest first. */
  eventsAfter(sequence: number, max: number): Promise<readonly StoredEvent[]>
  /** The events of one user after a number, oldest first. */
  eventsOf(user: string, after: number, max: number): Promise<readonly StoredEvent[]>
  /** The number of a user's event with that id. Undefined: the user has no such event, or no more. */
  findEvent(user: string, id: string): Promise<number | undefined>
  /** The newest event of a user up to that number. */
  newestEventOf(user: string, until: number): Promise<Pick<StoredEvent, 'sequence' | 'id'> | undefined>
  /**
   * Deletes events from before that time, but the newest of each user, which a client may resume from. It deletes at
   * most `max` at once. Returns how many it has deleted: fewer than `max` only when none is left.
   */
  sweepEvents(before: number, max: number): Promise<number>
  /** Calls the listener after each transaction of this process that has added an event or a delivery. */
  onEvents(listener: () => void): void
}
