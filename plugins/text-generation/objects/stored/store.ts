import type { RoomCheck } from '../room.ts'

/**
 * A response that the gateway itself stores, because its upstream has chat completions only. Times are milliseconds
 * since 1970.
 */
export interface StoredResponse {
  readonly id: string
  readonly user: string
  /** Id of the response that it continues. Undefined: it begins a conversation. */
  readonly previous?: string
  /** Whether all turns before it are to be kept as long as this one. */
  readonly renews?: boolean
  /** The response object as JSON, with an empty `output`. */
  readonly response: StoredText
  /** The items that this turn adds to the conversation: its own input, then its output. */
  readonly items: readonly StoredItem[]
  readonly createdAt: number
  /** From then on it does not exist. */
  readonly expiresAt: number
}

/**
 * A JSON text to store: a string, or consecutive parts in UTF-8, each of whole characters. A long text in parts is
 * never handled at once.
 */
export type StoredText = string | readonly Uint8Array[]

/** An item of a stored response. */
export interface StoredItem {
  /** Unique within its response only: callers choose the ids of input items. */
  readonly id: string
  readonly isOutput: boolean
  /** The item as JSON. */
  readonly json: StoredText
}

/** A stored item without its JSON. */
export interface StoredItemHead {
  /** Id of its response. */
  readonly response: string
  /** Its place among the items of the response, from 0. */
  readonly position: number
  readonly id: string
  readonly isOutput: boolean
  /** Of the JSON in UTF-8. */
  readonly bytes: number
}

/** The turns of a conversation up to a response. */
export interface StoredConversation {
  /** Oldest first. The last one is the response itself. */
  readonly turns: readonly StoredTurn[]
  /** When the oldest of its turns expires. */
  readonly expiresAt: number
  /** Why earlier turns are missing: one of them was removed, or there are more than were requested. */
  readonly cut?: 'removed' | 'too long'
}

/** A turn of a conversation, without its items. */
export interface StoredTurn {
  /** Id of the response. */
  readonly id: string
  /** Of the JSON of all its items in UTF-8. */
  readonly bytes: number
}

/** The longest conversation to find. */
export interface ConversationBounds {
  readonly maxTurns: number
  /** Of the items, as JSON. The last turn counts, and is found in any case. */
  readonly maxBytes: number
}

/**
 * Store port: responses that the gateway stores. Every method rejects when the store does not respond in time.
 *
 * A response of another user does not exist for the user who asks. Sizes are known before anything large is read: only
 * `readStoredResponse` and `readStoredItems` read JSON.
 */
export interface StoredResponseStore extends RoomCheck {
  /**
   * Stores a response: it exists with all its items, or not at all. A large one is written in several transactions of
   * bounded size, and exists from the last one on. Then it removes the user's oldest responses, until all of them
   * together have at most `maxUserBytes`. Resolves to false, and stores nothing, when the response alone has more.
   */
  storeResponse(response: StoredResponse, maxUserBytes: number): Promise<boolean>
  /** The number of bytes of the response object without its output. */
  findStoredResponse(user: string, id: string, now: number): Promise<{ readonly bytes: number } | undefined>
  /** The response object as JSON, with an empty `output`, in consecutive texts. Undefined: it has been removed. */
  readStoredResponse(user: string, id: string): Promise<readonly string[] | undefined>
  /** The turns of the conversation up to a response. */
  findStoredConversation(
    user: string,
    id: string,
    now: number,
    bounds: ConversationBounds,
  ): Promise<StoredConversation | undefined>
  /** The items of responses, in their order. */
  listStoredItems(user: string, responses: readonly string[]): Promise<readonly StoredItemHead[]>
  /** The latest item of the user with this id. */
  findStoredItem(user: string, id: string, now: number): Promise<StoredItemHead | undefined>
  /**
   * The JSON of items, in their order: of each, consecutive texts. Undefined: one of them has been removed. The caller
   * asks for about a MiB at once, or for one item.
   */
  readStoredItems(user: string, items: readonly StoredItemHead[]): Promise<readonly (readonly string[])[] | undefined>
  /** False when the user has no such response. */
  removeStoredResponse(user: string, id: string): Promise<boolean>
  /** Removes up to `max` expired responses. Returns their number. */
  sweepStoredResponses(now: number, max: number): Promise<number>
}
