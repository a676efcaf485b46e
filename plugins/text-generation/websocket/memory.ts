import { composeArray, type Json, toJson } from '../../shared/json/json.ts'
import { inputItemsOf } from '../responses/request.ts'
import type { CreateMessage } from './message.ts'

/** What a message continues, and its own input: together the conversation up to the response. */
export interface FullInput {
  /** The response that a store keeps, before `items`. */
  readonly previousId: string | undefined
  /** Items in JSON. */
  readonly items: readonly string[]
}

interface Remembered extends FullInput {
  readonly id: string
  readonly length: number
}

/**
 * The conversations of one connection that no store keeps (`store: false`), so that messages can continue them with new
 * items only: the latest of each lane, as in OpenAI's WebSocket mode
 * (https://developers.openai.com/api/docs/guides/websocket-mode).
 */
export class Memory {
  readonly #latest = new Map<string, Remembered>()
  readonly #maxLength: number

  /** @param maxLength of all conversations together, in characters */
  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** Characters of all conversations. */
  get length(): number {
    let length = 0
    for (const each of this.#latest.values()) length += each.length
    return length
  }

  /**
   * The conversation up to a message: also that before it, if it is remembered. Otherwise the route looks for
   * `previousId`.
   */
  fullInputOf({ json, previousId }: CreateMessage): FullInput {
    const before = previousId === undefined ? undefined : this.#find(previousId)
    return {
      previousId: before ? before.previousId : previousId,
      items: [...(before?.items ?? []), ...inputItemsOf(json).map(({ raw }) => raw)],
    }
  }

  /**
   * Remembers a conversation under the id of its response, as the latest of its lane. Forgets the oldest ones above the
   * maximum.
   */
  remember(streamId: string | undefined, id: string, { previousId, items }: FullInput): void {
    const lane = streamId ?? ''
    this.#latest.delete(lane)
    const length = items.reduce((sum, item) => sum + item.length, 0)
    this.#latest.set(lane, { id, previousId, items, length })
    for (const [oldest] of this.#latest) {
      if (this.length <= this.#maxLength) break
      this.#latest.delete(oldest)
    }
  }

  clear(): void {
    this.#latest.clear()
  }

  #find(id: string): Remembered | undefined {
    for (const each of this.#latest.values()) if (each.id === id) return each
    return undefined
  }
}

/** The body of the HTTP request for a message. */
export const requestBodyOf = ({ json, previousId }: CreateMessage, conversation: FullInput): Json => {
  const isExpanded = previousId !== undefined && conversation.previousId !== previousId
  return json.edit([
    ...['type', 'stream_id', 'generate'].map((key) => [key, undefined] as const),
    ['stream', toJson(true)],
    ...(isExpanded
      ? ([
          ['input', composeArray(conversation.items)],
          ['previous_response_id', conversation.previousId === undefined ? undefined : toJson(conversation.previousId)],
        ] as const)
      : []),
  ])
}

/**
 * The items of a response's output that a later request can send.
 *
 * Reasoning without its encrypted content cannot be sent: the upstream would look for it, and it has not kept it.
 */
export const outputItemsOf = (response: Json): readonly string[] => {
  const output = response.get('output')?.elements() ?? []
  const isLost = (item: Json) => item.get('type')?.string() === 'reasoning' && !item.get('encrypted_content')?.isString
  return output.filter((item) => !isLost(item)).map(({ raw }) => raw)
}
