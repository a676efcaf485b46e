import type { Settings } from '../settings.ts'
import { idOf } from './identity.ts'
import type { Item } from './items.ts'
import type { Json } from './reader.ts'
import { hasEnded, type StoredResponse } from './stored.ts'

/** Kinds of things that are put into the account from outside: nothing of the protocols makes them here. */
export const PLANTED = ['file', 'prompt', 'container', 'vector_store', 'audio'] as const

export type PlantedKind = (typeof PLANTED)[number]

const PREFIXES: Readonly<Record<PlantedKind, string>> = {
  ...{ file: 'file-', prompt: 'pmpt_', container: 'cntr_', vector_store: 'vs_', audio: 'audio_' },
}

/** Something that requests name by its id. */
export interface PlantedObject {
  readonly kind: PlantedKind
  readonly id: string
  /** what answers say of it */
  readonly name: string
}

/** A conversation, and what was said in it. */
export interface StoredConversation {
  readonly id: string
  /** ms since 1970 */
  readonly at: number
  readonly metadata: Json
  readonly items: readonly Item[]
  readonly responses: StoredResponse[]
}

/** What the account keeps of text generation. It knows no users: whoever has the key has all of it. */
export interface TextObjects {
  /** keeps a response where it wants to be stored, and adds it to its conversation */
  keep(response: StoredResponse): void
  response(id: string): StoredResponse | undefined
  addConversation(conversation: Omit<StoredConversation, 'responses'>): StoredConversation
  conversation(id: string): StoredConversation | undefined
  /** what was said in a conversation; a response adds to it when it ends */
  saidIn(conversation: StoredConversation): Item[]
  /** what was said until a response ended, itself included */
  saidUntil(response: StoredResponse): Item[]
  item(id: string): Item | undefined
  planted(kind: PlantedKind, id: string): PlantedObject | undefined
  readonly stock: ObjectStock
}

/** The objects of the account, to look at and to change from behind. */
export interface ObjectStock {
  /** Adds one, as if it had been made by another program with the same key; its id. Without an id it gets one that looks like its kind's. */
  add(object: { readonly kind: PlantedKind; readonly id?: string; readonly name?: string }): string
  /** everything, oldest first within each kind; expired responses and their items are gone */
  list(): StockEntry[]
  /** whether there was such a thing; items cannot be deleted by themselves */
  delete(id: string): boolean
  clear(): void
}

export interface StockEntry {
  readonly kind: PlantedKind | 'response' | 'conversation' | 'item'
  readonly id: string
  /** of an item: the response or conversation that it is in */
  readonly of?: string
}

/** Beyond so many responses the oldest are forgotten, so that a long run does not fill the memory. */
const MOST = 1000

export function createObjects({ clock, text: timeline }: Settings): TextObjects {
  const { responsesKeptMs } = timeline
  const responses = new Map<string, StoredResponse>()
  const conversations = new Map<string, StoredConversation>()
  const planted = new Map<string, PlantedObject>()
  let added = 0

  function forget(): void {
    for (const [id, { at }] of responses) {
      // in the order in which they were made, so the first that is young enough ends it
      if (responses.size <= MOST && clock() - at < responsesKeptMs) return
      responses.delete(id)
    }
  }

  function response(id: string): StoredResponse | undefined {
    forget()
    return responses.get(id)
  }

  function itemsHeld(): { readonly item: Item; readonly of: string }[] {
    forget()
    const under = (of: string, items: readonly Item[]) => items.map((item) => ({ item, of }))
    return [
      ...[...responses.values()].flatMap((one) => under(one.id, itemsOf(one))),
      ...[...conversations.values()].flatMap((one) => under(one.id, saidIn(one))),
    ]
  }

  const ended = (one: StoredResponse) => hasEnded(one, clock(), timeline)
  const saidIn = ({ items, responses }: StoredConversation) => [...items, ...responses.filter(ended).flatMap(itemsOf)]
  const itemsOf = (one: StoredResponse) => [...one.input, ...(ended(one) ? one.output : [])]

  const stock: ObjectStock = {
    add({ kind, id = idOf(PREFIXES[kind], { number: ++added, at: 0 }, 'added'), name = id }) {
      planted.set(id, { kind, id, name })
      return id
    },
    list() {
      const items = new Map(
        itemsHeld()
          .toReversed()
          .map(({ item, of }) => [item.id, of]),
      )
      return [
        ...[...responses.keys()].map((id) => ({ kind: 'response' as const, id })),
        ...[...conversations.keys()].map((id) => ({ kind: 'conversation' as const, id })),
        ...[...items].map(([id, of]) => ({ kind: 'item' as const, id, of })).toReversed(),
        ...[...planted.values()].map(({ kind, id }) => ({ kind, id })),
      ]
    },
    delete: (id) => {
      forget()
      return responses.delete(id) || conversations.delete(id) || planted.delete(id)
    },
    clear() {
      responses.clear()
      conversations.clear()
      planted.clear()
    },
  }

  return {
    keep(one) {
      const { stores, conversation = '' } = one.answer.request
      conversations.get(conversation)?.responses.push(one)
      if (stores) responses.set(one.id, one)
      forget()
    },
    response,
    addConversation(conversation) {
      const made = { ...conversation, responses: [] }
      conversations.set(made.id, made)
      return made
    },
    conversation: (id) => conversations.get(id),
    saidIn,
    saidUntil: (one) => [...one.earlier, ...itemsOf(one)],
    item: (id) => itemsHeld().find(({ item }) => item.id === id)?.item,
    planted: (kind, id) => {
      const found = planted.get(id)
      return found?.kind === kind ? found : undefined
    },
    stock,
  }
}
