import fc from 'fast-check'
import type { Model, Thing } from './model.ts'
import { idOf, type Pick, pick } from './pick.ts'

/** Where a request may name an object of the account, and how: the key is what stands there, in the order in which they stand in a body. */
const slots = {
  previous: 'response',
  conversation: 'conversation',
  'conversation object': 'conversation',
  item: 'item',
  'bare item': 'item',
  thought: 'item',
  // No more than a name that the caller gives to a message of its own.
  label: 'item',
  file: 'file',
  picture: 'file',
  container: 'container',
  'container files': 'file',
  'vector store': 'vector_store',
  prompt: 'prompt',
} as const satisfies Readonly<Record<string, Thing['kind']>>

export type Slot = keyof typeof slots

/** Kinds of which the gateways know whose they are. */
const owned: readonly Thing['kind'][] = ['response', 'conversation', 'item']

/** Ways in which a body may say `previous_response_id`. */
const disguises = [
  ...(['plain', 'plain', 'plain', 'twice', 'twice own first', 'twice own first', 'twice own first'] as const),
  ...(['escaped', 'capital', 'camel', 'kebab', 'wide'] as const),
] as const

export interface Naming {
  readonly slot: Slot
  readonly pick: Pick
  readonly disguise: (typeof disguises)[number]
}

export const naming = (): fc.Arbitrary<Naming> =>
  fc.record({
    slot: fc.oneof(
      { arbitrary: fc.constantFrom('previous' as const, 'item' as const), weight: 3 },
      { arbitrary: fc.constantFrom('conversation' as const, 'conversation object' as const), weight: 3 },
      { arbitrary: fc.constantFrom(...(Object.keys(slots) as Slot[])), weight: 2 },
    ),
    pick: pick(),
    disguise: fc.constantFrom(...disguises),
  })

/** What a request names, once it is its turn. */
export interface Named {
  readonly slot: Slot
  readonly kind: Thing['kind']
  readonly id: string
  /** What an upstream takes it for: of two keys with one name, the last one counts. */
  readonly meant: string
  /** Members of the body, input items and tools, as JSON. */
  readonly members: readonly string[]
  readonly items: readonly string[]
  readonly tools: readonly string[]
  /** Whether the gateways have to let it pass. */
  readonly owned: Thing['known']
}

/** Each slot once, in the order in which they stand in a body. */
export const namedBy = (model: Model, user: number, namings: readonly Naming[]): Named[] =>
  (Object.keys(slots) as Slot[]).flatMap((slot) => {
    const naming = namings.find((one) => one.slot === slot)
    if (!naming) return []
    const kind = slots[slot]
    const id = idOf(model, user, kind, naming.pick)
    const own = model.ownOf(user, kind)[0]?.id
    const twice = naming.disguise.startsWith('twice') && slot === 'previous' && own !== undefined ? own : undefined
    const owns = slot === 'label' ? 'yes' : owned.includes(kind) ? model.owns(user, kind, id) : 'no'
    const meant = twice !== undefined && naming.disguise === 'twice' ? twice : id
    return [{ slot, kind, id, meant, owned: owns, ...membersOf(slot, JSON.stringify(id), naming, twice) }]
  })

const membersOf = (slot: Slot, id: string, { disguise }: Naming, own: string | undefined) => {
  const in_ = (where: 'members' | 'items' | 'tools', ...texts: readonly string[]) => ({
    ...{ members: [], items: [], tools: [] },
    [where]: texts,
  })
  const withPart = (part: string) => in_('items', `{"role":"user","content":[${part}]}`)
  switch (slot) {
    case 'previous': {
      const plain = `"previous_response_id":${id}`
      if (own === undefined) return in_('members', `${keys[disguise as keyof typeof keys] ?? keys.plain}:${id}`)
      const other = `"previous_response_id":${JSON.stringify(own)}`
      return in_('members', ...(disguise === 'twice' ? [plain, other] : [other, plain]))
    }
    case 'conversation':
      return in_('members', `"conversation":${id}`)
    case 'conversation object':
      return in_('members', `"conversation":{"id":${id}}`)
    case 'item':
      return in_('items', `{"type":"item_reference","id":${id}}`)
    case 'bare item':
      return in_('items', `{"id":${id}}`)
    case 'thought':
      return in_('items', `{"type":"reasoning","id":${id},"summary":[]}`)
    case 'label':
      return in_('items', `{"type":"message","role":"user","id":${id},"content":"hm"}`)
    case 'file':
      return withPart(`{"type":"input_file","file_id":${id}}`)
    case 'picture':
      return withPart(`{"type":"input_image","detail":"auto","file_id":${id}}`)
    case 'container':
      return in_('tools', `{"type":"code_interpreter","container":${id}}`)
    case 'container files':
      return in_('tools', `{"type":"code_interpreter","container":{"type":"auto","file_ids":[${id}]}}`)
    case 'vector store':
      return in_('tools', `{"type":"file_search","vector_store_ids":[${id}]}`)
    case 'prompt':
      return in_('members', `"prompt":{"id":${id},"version":"1"}`)
  }
}

const keys = {
  plain: '"previous_response_id"',
  escaped: '"previous_response_\\u0069d"',
  capital: '"Previous_Response_ID"',
  camel: '"previousResponseId"',
  kebab: '"previous-response-id"',
  // An upper-case I without a dot, which is an i to whoever folds case without a locale in mind.
  wide: '"prev\\u0131ous_response_id"',
} as const

/** Whether an upstream reads what a naming says: other spellings of a key say nothing to it. */
export const isRead = ({ slot }: Named, namings: readonly Naming[]): boolean => {
  const disguise = namings.find((one) => one.slot === slot)?.disguise ?? 'plain'
  if (slot === 'label') return false
  return slot !== 'previous' || !['capital', 'camel', 'kebab', 'wide'].includes(disguise)
}
