import type { Conversation } from './input.ts'

const MOST = 1000

/** Conversations by the id of the response that ended them; the oldest are forgotten beyond a thousand. */
export interface Memory {
  keep(id: string, conversation: Conversation): void
  recall(id: string): Conversation | undefined
}

export function createMemory(): Memory {
  const kept = new Map<string, Conversation>()
  return {
    keep(id, conversation) {
      kept.set(id, conversation)
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST) return
        kept.delete(oldest)
      }
    },
    recall: (id) => kept.get(id),
  }
}
