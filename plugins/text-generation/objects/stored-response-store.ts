/**
 * A response that the gateway itself stores, because its upstream has chat completions only. Times are milliseconds since
 * 1970.
 */
export interface StoredResponse {
  readonly id: string
  readonly user: string
  /** Id of the response that it continues. Undefined: it begins a conversation. */
  readonly previous?: string
  /** Whether all turns before it are to be kept as long as this one. */
  readonly renews?: boolean
  /** The response object as JSON, with an empty `output`. */
  readonly response: string
  /** The items that this turn adds to the conversation: its own input, then its output. */
  readonly items: readonly StoredItem[]
  readonly createdAt: number
  /** From then on it does not exist. */
  readonly expiresAt: number
}

/** An item of a stored response. */
export interface StoredItem {
  /** Unique within its response only: callers choose the ids of input items. */
  readonly id: string
  readonly isOutput: boolean
  /** The item as JSON. */
  readonly json: string
}

/** The turns of a conversation up to a response. */
export interface StoredConversation {
  /** The items of all turns, oldest first. */
  readonly items: readonly StoredItem[]
  /** Number of the items that belong to the response itself and not to an earlier one. */
  readonly ownItems: number
  /** When the oldest of its turns expires. */
  readonly expiresAt: number
  /** Why earlier turns are missing: one of them was removed, or there are more than were requested. */
  readonly cut?: 'removed' | 'too long'
}

/** The most that one query may read. */
export interface ConversationBounds {
  readonly maxTurns: number
  /** Of the items, as JSON. */
  readonly maxBytes: number
}

/**
 * Store port: responses that the gateway stores. Every method rejects when the store does not respond in time.
 *
 * A response of another user does not exist for the user who asks.
 */
export interface StoredResponseStore {
  /**
   * Stores a response in one transaction. The same transaction removes the user's oldest responses, until all of them
   * together have at most `maxUserBytes`. Resolves to false, and stores nothing, when the response alone has more.
   */
  storeResponse(response: StoredResponse, maxUserBytes: number): Promise<boolean>
  /** The response object with its output items, all as JSON. */
  findStoredResponse(
    user: string,
    id: string,
    now: number,
  ): Promise<{ readonly response: string; readonly output: readonly string[] } | undefined>
  /** The conversation up to a response, in one query. */
  findStoredConversation(
    user: string,
    id: string,
    now: number,
    bounds: ConversationBounds,
  ): Promise<StoredConversation | undefined>
  /** The latest item of the user with this id, as JSON. */
  findStoredItem(user: string, id: string, now: number): Promise<string | undefined>
  /** False when the user has no such response. */
  removeStoredResponse(user: string, id: string): Promise<boolean>
  /** Removes up to `max` expired responses. Returns their number. */
  sweepStoredResponses(now: number, max: number): Promise<number>
}
