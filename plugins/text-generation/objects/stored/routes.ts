import { Buffer } from 'node:buffer'
import type { Audit } from '../../../shared/audit.ts'
import { responseOf } from '../../../shared/http/body/known-body.ts'
import { inFlightOf } from '../../../shared/http/in-flight.ts'
import { noStoreHeaders } from '../../../shared/http/no-store.ts'
import {
  composeArray,
  composeInTurns,
  composeJson,
  type Json,
  type Piece,
  readJsonInTurns,
  responseLimits,
} from '../../../shared/json/json.ts'
import { TextProblem } from '../../protocol/problem.ts'
import type { ResponseAction } from '../../upstream/client.ts'
import { objectNotFound } from '../ownership.ts'
import { maxTurns } from './continuation.ts'
import { readAlone, readItems, readStored } from './read-items.ts'
import type { StoredItemHead, StoredResponseStore } from './store.ts'

export interface StoredResponseRoutesOptions {
  readonly store: StoredResponseStore
  /** Maximum bytes of the items that a list reads. */
  readonly maxRequestBytes: number
  readonly clock: { now(): number }
  readonly audit: Audit
}

interface StoredResponseRequest {
  readonly request: Request
  readonly user: string
  /** Id of the response. */
  readonly id: string
}

/**
 * Responds to a request for a response that the gateway stores, as OpenAI's API does. Undefined if it stores none with
 * that id for the user.
 *
 * Rejects with TextProblem 400 for what such a response does not support and for a malformed parameter, 404 for an
 * unknown cursor, 500 when the store fails; with Problem 429 or 503 when the items exceed a limit on bytes of bodies.
 */
export type RespondStored = (action: ResponseAction, request: StoredResponseRequest) => Promise<Response | undefined>

export const createStoredResponseRoutes =
  ({ store, maxRequestBytes, clock, audit }: StoredResponseRoutesOptions): RespondStored =>
  (action, { request, user, id }) => {
    const query = new URLSearchParams(request.url.split('?', 2)[1])
    const now = clock.now()
    /**
     * The JSON of items. They take memory like a body, and count before they are read. Undefined: one of them was
     * removed meanwhile.
     */
    const read = (items: readonly StoredItemHead[], more = 0) => {
      const bytes = items.reduce((sum, item) => sum + item.bytes, more)
      inFlightOf(request)?.reading(bytes)
      return readAlone(user, bytes, () => readItems(store, user, items))
    }
    const respond: Readonly<Record<ResponseAction, () => Promise<Json | undefined>>> = {
      async GetResponse() {
        const found = await readStored(store.findStoredResponse(user, id, now))
        if (!found) return undefined
        if (query.get('stream') === 'true') {
          const message = "Only a response that was created with 'background' and 'stream' can be streamed."
          throw new TextProblem(400, message, { param: 'stream', code: 'invalid_value' })
        }
        const items = await readStored(store.listStoredItems(user, [id]))
        const output = await read(
          items.filter(({ isOutput }) => isOutput),
          found.bytes,
        )
        const response = output && (await readStored(store.readStoredResponse(user, id)))
        if (response === undefined) return undefined
        const bytes = await composeInTurns(composeJson(response.map((text) => Buffer.from(text))))
        return (await readJsonInTurns(bytes, responseLimits)).with('output', composeArray(output ?? []))
      },
      async DeleteResponse() {
        if (!(await readStored(store.removeStoredResponse(user, id)))) return undefined
        audit.note({ action: 'response.delete', target: { kind: 'response', id } }, request)
        return composeJson([`{"id":${JSON.stringify(id)},"object":"response.deleted","deleted":true}`])
      },
      async CancelResponse() {
        if (!(await readStored(store.findStoredResponse(user, id, now)))) return undefined
        throw new TextProblem(400, 'Cannot cancel a synchronous response.')
      },
      async ListInputItems() {
        const bounds = { maxTurns, maxBytes: maxRequestBytes }
        const conversation = await readStored(store.findStoredConversation(user, id, now, bounds))
        if (!conversation) return undefined
        const turns = conversation.turns.map((turn) => turn.id)
        const page = pageOf(inputOf(await readStored(store.listStoredItems(user, turns)), id), query)
        const items = await read(page.items)
        return items && listOf(page, items)
      },
    }
    return respond[action]().then(
      async (json) =>
        json &&
        responseOf(await composeInTurns(json), {
          status: 200,
          headers: { 'content-type': 'application/json', ...noStoreHeaders },
        }),
    )
  }

/**
 * The input of a response: the items of the earlier turns, and its own input. Of several items with one id the last
 * counts.
 */
const inputOf = (items: readonly StoredItemHead[], own: string): readonly StoredItemHead[] => {
  const input = items.filter(({ response, isOutput }) => response !== own || !isOutput)
  return [...new Map(input.map((item) => [item.id, item])).values()]
}

interface Page {
  readonly items: readonly StoredItemHead[]
  readonly more: boolean
}

/** A page of a list of items: https://platform.openai.com/docs/api-reference/responses/input-items */
const pageOf = (items: readonly StoredItemHead[], query: URLSearchParams): Page => {
  const limit = limitIn(query)
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') {
    const message = `Invalid value: '${order.slice(0, 256)}'. Supported values are: 'asc' and 'desc'.`
    throw new TextProblem(400, message, { param: 'order', code: 'invalid_value' })
  }
  const ordered = order === 'asc' ? items : items.toReversed()
  const placeOf = (cursor: 'after' | 'before'): number | undefined => {
    const id = query.get(cursor)
    if (id === null || id === '') return undefined
    const place = ordered.findIndex((item) => item.id === id)
    if (place === -1) throw objectNotFound('item', id, cursor)
    return place
  }
  const [after, before] = [placeOf('after'), placeOf('before')]
  const from = after === undefined ? 0 : after + 1
  const between = ordered.slice(from, before)
  // The page before an item is the one that ends there.
  const page = after === undefined && before !== undefined ? between.slice(-limit) : between.slice(0, limit)
  return { items: page, more: page.length < between.length }
}

const listOf = ({ items, more }: Page, texts: readonly Piece[]): Json => {
  const [firstId, lastId] = [items.at(0), items.at(-1)].map((item) => JSON.stringify(item?.id ?? null))
  return composeJson([
    '{"object":"list","data":',
    composeArray(texts),
    `,"first_id":${firstId},"last_id":${lastId},"has_more":${more}}`,
  ])
}

const limitIn = (query: URLSearchParams): number => {
  const text = query.get('limit') ?? '20'
  const param = 'limit'
  if (!/^-?\d{1,15}$/.test(text)) {
    const message = "Invalid type for 'limit': expected an integer, but got a string instead."
    throw new TextProblem(400, message, { param, code: 'invalid_type' })
  }
  const limit = Number(text)
  if (limit >= 1 && limit <= 100) return limit
  const [side, rule] = limit < 1 ? ['below_min', '>= 1'] : ['above_max', '<= 100']
  const message = `Invalid 'limit': integer ${side.replace('_', ' ')}imum value. Expected a value ${rule}, but got ${limit} instead.`
  throw new TextProblem(400, message, { param, code: `integer_${side}_value` })
}
