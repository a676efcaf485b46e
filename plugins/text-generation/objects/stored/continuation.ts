import type { Awaitable } from '../../../shared/awaitable.ts'
import { Pace, runInTurns, runSteps, type SteppedWork } from '../../../shared/background/turns.ts'
import { JsonBody } from '../../../shared/http/body/body.ts'
import { inFlightOf } from '../../../shared/http/in-flight.ts'
import {
  composeArray,
  composeInTurns,
  entriesPerTurn,
  isLarge,
  type Json,
  JsonError,
  maxBytesAtOnce,
  nextTurn,
  type Piece,
  readJson,
  readJsonInTurns,
} from '../../../shared/json/json.ts'
import { indexInTurns } from '../../protocol/index-in-turns.ts'
import { TextProblem } from '../../protocol/problem.ts'
import { isSealed } from '../../protocol/sealed-reasoning.ts'
import { fieldOf, shortStringOf } from '../../protocol/validation.ts'
import { inputItemsOf } from '../../responses/request.ts'
import { isGatewayId, mayHoldGatewayItem } from '../gateway-ids.ts'
import { objectNotFound } from '../ownership.ts'
import { readAlone, readItems, readStored } from './read-items.ts'
import type { StoredConversation, StoredItemHead, StoredResponseStore } from './store.ts'

/** A request with the stored items that it refers to. */
export interface Continuation {
  /**
   * The request with its whole input, and without `previous_response_id`. The request as received, if it refers to no
   * response or item that the gateway stores.
   */
  readonly body: JsonBody
  /** Id of the response that it continues. Undefined: none that the gateway stores. */
  readonly previous: string | undefined
  /** When the oldest turn of that conversation expires. */
  readonly expiresAt?: number | undefined
  /** False if it certainly contains no item that a gateway has made. */
  readonly mayHoldGatewayItem: boolean
  /** The items of its own input, with the items that it refers to. */
  readonly ownItems: readonly Json[]
  readonly ownBytes: number
}

export interface ContinuationOptions {
  readonly store: StoredResponseStore
  readonly now: number
  /** Maximum size of the request with the stored items. */
  readonly maxBytes: number
}

/**
 * Replaces the references of a Responses request to responses and items that the gateway stores for the user: the items
 * of the conversation come before the input, and an `item_reference` becomes its item. All checks of a request then
 * also apply to what is stored, and any upstream can continue the conversation.
 *
 * Ids that the gateway stores for nobody, or for another user, stay in the request: `ObjectOwnership.check` rejects
 * them.
 *
 * Rejects with TextProblem 400 for a conversation whose earlier turns are gone, and for one that is too long; with 500
 * when the store fails.
 */
export const continueRequest = (
  body: JsonBody,
  { user, request }: { readonly user: string; readonly request: Request },
  options: ContinuationOptions,
): Awaitable<Continuation> => {
  return mayHoldGatewayItem(body.json) ? expand(body, { user, request }, options) : unchanged(body, false)
}

/** A request that refers to nothing that the gateway stores. */
const unchanged = (body: JsonBody, mayHold: boolean): Continuation => ({
  ...{ body, previous: undefined, mayHoldGatewayItem: mayHold, ownBytes: body.bytes.length },
  // Most requests go to an upstream that keeps its own items, and need no list of them.
  get ownItems() {
    return inputItemsOf(body.json)
  },
})

const expand = async (
  body: JsonBody,
  { user, request }: { readonly user: string; readonly request: Request },
  { store, now, maxBytes }: ContinuationOptions,
): Promise<Continuation> => {
  const { json } = body
  const previous = shortStringOf(fieldOf(json, 'previous_response_id').json)
  const given = inputItemsOf(json)
  const bytesLeft = maxBytes - body.bytes.length
  const conversation = isGatewayId(previous)
    ? await readStored(store.findStoredConversation(user, previous, now, { maxTurns, maxBytes: bytesLeft }))
    : undefined
  if (conversation && previous !== undefined) checkConversation(conversation, previous, json)
  const earlierBytes = conversation?.turns.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0
  if (earlierBytes > bytesLeft) throw tooLong('previous_response_id')
  const find = (id: string) => store.findStoredItem(user, id, now)
  const found = await findReferenced(given, find, bytesLeft - earlierBytes)
  if (!conversation && found.items.size === 0) return unchanged(body, true)
  // Stored items take memory like a body: they count before they are read.
  const storedBytes = earlierBytes + found.bytes
  inFlightOf(request)?.reading(storedBytes)
  const { earlier, referenced } = await readAlone(user, storedBytes, async () => ({
    earlier: await readConversation(store, user, conversation, previous),
    referenced: await readReferenced(store, user, found.items),
  }))
  const own = given.map((item) => referenced.get(referenceIdOf(item) ?? '') ?? item)
  const whole = json.edit([
    ['input', composeArray([...earlier, ...own])],
    ...(conversation ? [['previous_response_id', undefined] as const] : []),
  ])
  const reread = await readAgain(whole)
  const items = inputItemsOf(reread.json)
  return {
    body: reread,
    previous: conversation && previous,
    expiresAt: conversation?.expiresAt,
    mayHoldGatewayItem: true,
    // Of the document that was read in turns, which has the stored items too.
    ownItems: items.slice(items.length - given.length),
    ownBytes: body.bytes.length + found.bytes,
  }
}

/** Turns of one conversation. */
export const maxTurns = 4_096

/** References in one request. Each may cost one query. */
const maxReferences = 1_000

const checkConversation = ({ cut }: StoredConversation, previous: string, json: Json): void => {
  const param = 'previous_response_id'
  const other = fieldOf(json, 'conversation').json
  if (other) {
    throw new TextProblem(
      400,
      "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'.",
      { param, code: 'mutually_exclusive_parameters' },
    )
  }
  if (cut === 'removed') throw objectNotFound('response', previous, param)
  if (cut === 'too long') throw tooLong(param)
}

const tooLong = (param: string): TextProblem =>
  new TextProblem(400, `${param} refers to more than a request may contain`, {
    param,
    code: 'context_length_exceeded',
  })

/** The id of an item that a request contains by reference only: an `item_reference`, or an item that is only an id. */
export const referenceIdOf = (item: Json): string | undefined => {
  const type = item.get('type')
  const isReference = !type || type.is('null') ? !item.get('role') : shortStringOf(type) === 'item_reference'
  return isReference ? shortStringOf(item.get('id')) : undefined
}

/** The items of the turns of a conversation. Throws TextProblem 404 if one was removed meanwhile. */
const readConversation = async (
  store: StoredResponseStore,
  user: string,
  conversation: StoredConversation | undefined,
  previous = '',
): Promise<readonly Piece[]> => {
  if (!conversation) return []
  const turns = conversation.turns.map(({ id }) => id)
  const heads = await readStored(store.listStoredItems(user, turns))
  const items = await readItems(store, user, heads)
  if (!items) throw objectNotFound('response', previous, 'previous_response_id')
  return items
}

/** The stored items that an input refers to, by id. One that was removed meanwhile is absent. */
const readReferenced = async (
  store: StoredResponseStore,
  user: string,
  found: ReadonlyMap<string, StoredItemHead>,
): Promise<ReadonlyMap<string, Piece>> => {
  const items = new Map<string, Piece>()
  for (const [id, head] of found) {
    const [item] = (await readItems(store, user, [head])) ?? []
    if (item !== undefined) items.set(id, item)
  }
  return items
}

/** The stored items that an input refers to, by id, and their bytes: of each as often as it occurs. */
const findReferenced = async (
  given: readonly Json[],
  find: (id: string) => Promise<StoredItemHead | undefined>,
  maxBytes: number,
): Promise<{ readonly items: ReadonlyMap<string, StoredItemHead>; readonly bytes: number }> => {
  const counts = new Map<string, number>()
  const pace = new Pace(entriesPerTurn)
  for (const item of given) {
    if (pace.isDue()) await nextTurn()
    const id = referenceIdOf(item)
    if (isGatewayId(id)) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const param = 'input'
  if (counts.size > maxReferences)
    throw new TextProblem(400, `request names more than ${maxReferences} objects`, { param })
  const items = new Map<string, StoredItemHead>()
  const all = [...counts]
  let bytes = 0
  for (let start = 0; start < all.length; start += 16) {
    const some = all.slice(start, start + 16)
    const found = await readStored(Promise.all(some.map(([id]) => find(id))))
    for (const [index, [id, count]] of some.entries()) {
      const item = found[index]
      if (item === undefined) continue
      items.set(id, item)
      bytes += count * item.bytes
      if (bytes > maxBytes) throw tooLong(param)
    }
  }
  return { items, bytes }
}

/** Parses a composed request, with the limits on values of a received one. */
const readAgain = async (whole: Json): Promise<JsonBody> => {
  const bytes = await composeInTurns(whole)
  try {
    return new JsonBody(bytes.length > maxBytesAtOnce ? await readJsonInTurns(bytes) : readJson(bytes), bytes)
  } catch (error) {
    if (error instanceof JsonError) throw tooLong('input')
    throw error
  }
}

/**
 * The request for an upstream that keeps its own items: without the ids that the gateway has made, which the upstream
 * does not know, and without reasoning of the gateway, which only a bridged upstream can read.
 */
export const withoutGatewayItems = (request: Json): Awaitable<Json> => {
  if (!isLarge(request)) return runSteps(removeGatewayItems(request))
  return runInTurns(removeGatewayItems(request)).then((left) => (left === request ? request : indexInTurns(left)))
}

function* removeGatewayItems(request: Json): SteppedWork<Json> {
  const left: Json[] = []
  const pace = new Pace()
  let isSame = true
  for (const item of request.get('input')?.elements() ?? []) {
    if (pace.isDue()) yield
    const kept = withoutGatewayId(item)
    if (kept) left.push(kept)
    isSame &&= kept === item
  }
  return isSame ? request : request.with('input', composeArray(left))
}

/** The item without an id of the gateway. Undefined for reasoning of the gateway. */
const withoutGatewayId = (item: Json): Json | undefined => {
  const isOurs = isGatewayId(shortStringOf(item.get('id')))
  if (shortStringOf(item.get('type')) === 'reasoning')
    return isOurs || isSealed(item.get('encrypted_content')?.string()) ? undefined : item
  return isOurs && referenceIdOf(item) === undefined ? item.without((key) => key === 'id') : item
}
