/** A webhook: an address that is told of a user's events. Times are milliseconds since 1970. */
export interface StoredWebhook {
  readonly id: string
  readonly url: string
  /** Types of events, and families such as `video.*`. Undefined: all. */
  readonly types?: readonly string[]
  readonly createdAt: number
  /** The last delivery that the address has accepted. */
  readonly deliveredAt?: number
  /** The first failed delivery after the last one that was accepted. */
  readonly failingSince?: number
  /** Why the last delivery has failed. */
  readonly lastError?: string
  /** Nothing is delivered any more. */
  readonly disabledAt?: number
  /** Events that wait for it. */
  readonly waiting: number
}

/** A webhook to be stored. */
export interface NewWebhook extends Pick<StoredWebhook, 'id' | 'url' | 'types' | 'createdAt'> {
  readonly user: string
  /** The key that signs its deliveries. */
  readonly secret: string
}

/** The store port of the routes for webhooks. */
export interface WebhookStore {
  /** False, without a change, when the user has `max` webhooks already. The limit holds for concurrent calls. */
  addWebhook(webhook: NewWebhook, max: number): Promise<boolean>
  /** Oldest first. */
  listWebhooks(user: string): Promise<readonly StoredWebhook[]>
  /** Deletes a webhook with all that waits for it. False when the user has none with that id. */
  deleteWebhook(user: string, id: string): Promise<boolean>
}
