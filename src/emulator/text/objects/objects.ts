import type { Settings } from '../../options.ts'
import type { Json } from '../../shared/reader.ts'
import { textIdOf } from '../output/call-context.ts'
import type { Item } from './items.ts'
import { createSealing, type Sealing } from './sealing.ts'
import { hasEnded, type StoredResponse } from './stored.ts'

/** Kinds of objects that a test adds. The emulated APIs reference them but cannot create them. */
export const testObjectKinds = ['file', 'prompt', 'container', 'vector_store', 'audio'] as const

/** A kind of object that a test adds. */
export type TestObjectKind = (typeof testObjectKinds)[number]

const prefixes: Readonly<Record<TestObjectKind, string>> = {
  ...{ file: 'file-', prompt: 'pmpt_', container: 'cntr_', vector_store: 'vs_', audio: 'audio_' },
}

/** An object that a test has added, such as a file. Requests reference it by id. */
export interface TestObject {
  readonly kind: TestObjectKind
  readonly id: string
  /** its name, which generated texts quote */
  readonly name: string
}

/** A stored conversation. */
export interface StoredConversation {
  readonly id: string
  /** ms since 1970 */
  readonly at: number
  readonly metadata: Json
  readonly items: readonly Item[]
  readonly responses: StoredResponse[]
}

/** The stored objects of text generation. The account has no users: the key gives access to all objects. */
export interface TextObjects {
  /** stores a response unless its request has `store: false`, and adds it to its conversation */
  keep(response: StoredResponse): void
  response(id: string): StoredResponse | undefined
  addConversation(conversation: Omit<StoredConversation, 'responses'>): StoredConversation
  conversation(id: string): StoredConversation | undefined
  /** the items of a conversation; those of a response belong to it once the response has ended */
  conversationItems(conversation: StoredConversation): Item[]
  /** the items up to and including a response */
  itemsUntil(response: StoredResponse): Item[]
  item(id: string): Item | undefined
  testObject(kind: TestObjectKind, id: string): TestObject | undefined
  readonly stored: StoredObjects
  /** the encryption of content that the caller keeps */
  readonly sealing: Sealing
}

/** Direct access to the stored objects of the account, without the API. */
export interface StoredObjects {
  /**
   * Adds an object, as if another client with the same key had created it, and returns its id. Default id: a new one in
   * the format of the kind.
   */
  add(object: { readonly kind: TestObjectKind; readonly id?: string; readonly name?: string }): string
  /** all objects, oldest first within each kind; without expired responses and their items */
  list(): StoredObject[]
  /** Deletes an object; false when it does not exist. A single item cannot be deleted. */
  delete(id: string): boolean
  /** deletes all objects */
  clear(): void
}

/** An entry of the list of stored objects. */
export interface StoredObject {
  readonly kind: TestObjectKind | 'response' | 'conversation' | 'item'
  readonly id: string
  /** for an item: the id of its response or conversation */
  readonly of?: string
}

/** Maximum number of stored responses. The oldest are deleted first, so a long run needs bounded memory. */
const maxResponses = 1000

/** Creates an empty set of stored objects. */
export const createObjects = ({ clock, text: textSettings }: Settings): TextObjects => {
  const { responsesKeptMs } = textSettings
  const responses = new Map<string, StoredResponse>()
  const conversations = new Map<string, StoredConversation>()
  const testObjects = new Map<string, TestObject>()
  let added = 0

  const deleteExpired = (): void => {
    for (const [id, { at }] of responses) {
      // in order of creation: all responses after the first one that has not expired are younger
      if (responses.size <= maxResponses && clock() - at < responsesKeptMs) return
      responses.delete(id)
    }
  }

  const response = (id: string): StoredResponse | undefined => {
    deleteExpired()
    return responses.get(id)
  }

  const storedItems = (): { readonly item: Item; readonly of: string }[] => {
    deleteExpired()
    const under = (of: string, items: readonly Item[]) => items.map((item) => ({ item, of }))
    return [
      ...[...responses.values()].flatMap((one) => under(one.id, itemsOf(one))),
      ...[...conversations.values()].flatMap((one) => under(one.id, conversationItems(one))),
    ]
  }

  const ended = (one: StoredResponse) => hasEnded(one, clock(), textSettings)
  const conversationItems = ({ items, responses }: StoredConversation) => [
    ...items,
    ...responses.filter(ended).flatMap(itemsOf),
  ]
  const itemsOf = (one: StoredResponse) => [...one.input, ...(ended(one) ? one.output : [])]

  const stored: StoredObjects = {
    add({ kind, id = textIdOf(prefixes[kind], { number: ++added, at: 0 }, 'added'), name = id }) {
      testObjects.set(id, { kind, id, name })
      return id
    },
    list() {
      const items = new Map(
        storedItems()
          .toReversed()
          .map(({ item, of }) => [item.id, of]),
      )
      return [
        ...[...responses.keys()].map((id) => ({ kind: 'response' as const, id })),
        ...[...conversations.keys()].map((id) => ({ kind: 'conversation' as const, id })),
        ...[...items].map(([id, of]) => ({ kind: 'item' as const, id, of })).toReversed(),
        ...[...testObjects.values()].map(({ kind, id }) => ({ kind, id })),
      ]
    },
    delete: (id) => {
      deleteExpired()
      return responses.delete(id) || conversations.delete(id) || testObjects.delete(id)
    },
    clear() {
      responses.clear()
      conversations.clear()
      testObjects.clear()
    },
  }

  return {
    keep(one) {
      const { stores, conversation = '' } = one.generated.request
      conversations.get(conversation)?.responses.push(one)
      if (stores) responses.set(one.id, one)
      deleteExpired()
    },
    response,
    addConversation(conversation) {
      const made = { ...conversation, responses: [] }
      conversations.set(made.id, made)
      return made
    },
    conversation: (id) => conversations.get(id),
    conversationItems,
    itemsUntil: (one) => [...one.earlier, ...itemsOf(one)],
    item: (id) => storedItems().find(({ item }) => item.id === id)?.item,
    testObject: (kind, id) => {
      const found = testObjects.get(id)
      return found?.kind === kind ? found : undefined
    },
    stored,
    sealing: createSealing(textSettings.key),
  }
}
