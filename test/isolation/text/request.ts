import fc from 'fast-check'
import { idOf, type Pick, pick } from './id-choice.ts'
import type { Model, ModelObject } from './model.ts'

/** The positions in a request that may contain an id, in their order in the body. The value is the kind of the object. */
const slots = {
  previous: 'response',
  conversation: 'conversation',
  'conversation object': 'conversation',
  item: 'item',
  'bare item': 'item',
  thought: 'item',
  // Only an id that the caller gives to an input message.
  label: 'item',
  file: 'file',
  picture: 'file',
  container: 'container',
  'container files': 'file',
  'vector store': 'vector_store',
  prompt: 'prompt',
} as const satisfies Readonly<Record<string, ModelObject['kind']>>

export type Slot = keyof typeof slots

/** Kinds whose owner the gateways record. */
const owned: readonly ModelObject['kind'][] = ['response', 'conversation', 'item']

/** Spellings of `previous_response_id` in a body. */
const disguises = [
  ...(['plain', 'plain', 'plain', 'twice', 'twice own first', 'twice own first', 'twice own first'] as const),
  ...(['escaped', 'capital', 'camel', 'kebab', 'wide'] as const),
] as const

export interface Reference {
  readonly slot: Slot
  readonly pick: Pick
  readonly disguise: (typeof disguises)[number]
}

export const reference = (): fc.Arbitrary<Reference> =>
  fc.record({
    slot: fc.oneof(
      { arbitrary: fc.constantFrom('previous' as const, 'item' as const), weight: 3 },
      { arbitrary: fc.constantFrom('conversation' as const, 'conversation object' as const), weight: 3 },
      { arbitrary: fc.constantFrom(...(Object.keys(slots) as Slot[])), weight: 2 },
    ),
    pick: pick(),
    disguise: fc.constantFrom(...disguises),
  })

/** A reference with a concrete id. */
export interface ResolvedReference {
  readonly slot: Slot
  readonly kind: ModelObject['kind']
  readonly id: string
  /** The id that the upstream reads: of duplicate keys it uses the last. */
  readonly meant: string
  /** Members of the body, input items and tools that contain the id. As JSON. */
  readonly members: readonly string[]
  readonly items: readonly string[]
  readonly tools: readonly string[]
  /** Whether the gateways must accept it. */
  readonly owned: ModelObject['known']
}

/** At most one reference for each slot, in the order of the body. */
export const resolveReferences = (model: Model, user: number, references: readonly Reference[]): ResolvedReference[] =>
  (Object.keys(slots) as Slot[]).flatMap((slot) => {
    const reference = references.find((one) => one.slot === slot)
    if (!reference) return []
    const kind = slots[slot]
    const id = idOf(model, user, kind, reference.pick)
    const own = model.ownOf(user, kind)[0]?.id
    const twice = reference.disguise.startsWith('twice') && slot === 'previous' && own !== undefined ? own : undefined
    const owns = slot === 'label' ? 'yes' : owned.includes(kind) ? model.owns(user, kind, id) : 'no'
    const meant = twice !== undefined && reference.disguise === 'twice' ? twice : id
    return [{ slot, kind, id, meant, owned: owns, ...membersOf(slot, JSON.stringify(id), reference, twice) }]
  })

const membersOf = (slot: Slot, id: string, { disguise }: Reference, own: string | undefined) => {
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
  // U+0131, a lower-case i without a dot: its upper case is I, so careless case folding makes it an i.
  wide: '"prev\\u0131ous_response_id"',
} as const

/** Whether the upstream reads the reference. It ignores other spellings of a key. */
export const isRead = ({ slot }: ResolvedReference, references: readonly Reference[]): boolean => {
  const disguise = references.find((one) => one.slot === slot)?.disguise ?? 'plain'
  if (slot === 'label') return false
  return slot !== 'previous' || !['capital', 'camel', 'kebab', 'wide'].includes(disguise)
}
