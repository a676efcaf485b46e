/** A request that a process sends while it holds its lease. Times are milliseconds since 1970. */
export interface LeasedDelivery {
  /**
   * What it is sent for: events go to a webhook, the newest state of an object to an address of its own (a callback).
   */
  readonly kind: 'webhook' | 'callback'
  /** The webhook or the callback. */
  readonly id: string
  readonly user: string
  readonly url: string
  /** The same in every attempt: a receiver recognizes by it what it has received already. */
  readonly messageId: string
  /** A JSON document. */
  readonly body: string
  /** The keys that sign it: that of the webhook; for a callback, those of all webhooks of its user. */
  readonly secrets: readonly string[]
  readonly createdAt: number
  /** Attempts before this one. */
  readonly attempts: number
  /** Failures of the address in a row before this attempt, also of other deliveries. */
  readonly failures: number
  /** The first of them. */
  readonly failingSince?: number
  /** Number of the event of a webhook. */
  readonly sequence: number
  readonly lease: string
}

/** What becomes of a delivery that has failed. */
export interface FailedDelivery {
  readonly at: number
  readonly error: string
  /** When it is sent again. Undefined: never. */
  readonly dueAt: number | undefined
  /** Until when nothing is sent to this address. */
  readonly pausedUntil: number
  /** Whether the webhook is disabled, with all that waits for it. */
  readonly disables: boolean
}

/** Limits of one call of `leaseDeliveries`. */
export interface DeliveryLimits {
  readonly max: number
  /** Deliveries of one user that are sent at once, by all processes. */
  readonly maxPerUser: number
}

/** The store port of the deliveries. A lease that has ended or was taken over changes nothing. */
export interface DeliveryStore {
  /** Whether a delivery is due that is not leased. */
  isDeliveryDue(now: number): Promise<boolean>
  /**
   * Leases due deliveries until a time: at most one for each address of a webhook, so that it receives events one after
   * the other, and first those of users for whom the fewest are being sent.
   */
  leaseDeliveries(now: number, until: number, limits: DeliveryLimits): Promise<readonly LeasedDelivery[]>
  /** The address has accepted the delivery. @param recovered all that waits for it is due at once */
  deliverySucceeded(delivery: LeasedDelivery, at: number, recovered: boolean): Promise<void>
  deliveryFailed(delivery: LeasedDelivery, failed: FailedDelivery): Promise<void>
  /**
   * Deletes what nobody will send any more, from before that time: about `max` deliveries to webhooks, and as many
   * callbacks. Returns the larger number of both: fewer than `max` when none is left.
   */
  sweepDeliveries(before: number, max: number): Promise<number>
}
