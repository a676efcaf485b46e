import { Buffer } from 'node:buffer'
import { Pace, type SteppedWork } from '../../../shared/background/turns.ts'
import type { Clock } from '../../../shared/clock.ts'
import { readId } from '../../../shared/id.ts'
import { bytesPerTurn, composeJson, type Json, type MemberChange, partsOf, toJson } from '../../../shared/json/json.ts'
import type { Log, Problem } from '../../../shared/problem.ts'
import { shortStringOf } from '../../protocol/validation.ts'
import { newGatewayId } from '../gateway-ids.ts'
import type { IssuedObjects } from '../issued.ts'
import { notRecorded, requireRoom } from '../room.ts'
import type { StoredItem, StoredResponseStore } from './store.ts'

export interface ResponseRecorderOptions {
  readonly store: StoredResponseStore
  readonly user: string
  /** Id of the stored response that this one continues. */
  readonly previous: string | undefined
  /** Whether the earlier turns of its conversation are to be kept as long as this one. */
  readonly renews: boolean
  /**
   * The items of its own input. Only texts: the recorder lives as long as a stream, and the parsed request would take
   * several times the memory.
   */
  readonly input: readonly StoredItem[]
  /** Milliseconds for which the response is kept. */
  readonly ttlMs: number
  /** Maximum bytes of all responses of the user. */
  readonly maxUserBytes: number
  readonly clock: Clock
  readonly log: Log
}

/**
 * Stores a response of the gateway, with its items, before the caller receives the end of it: in a stream the final
 * event, else the response.
 *
 * The whole response is stored at its end. If the process ends before that, the caller has received no complete
 * response, and none is stored.
 */
export const createResponseRecorder = (options: ResponseRecorderOptions): IssuedObjects => {
  const { store, user, previous, renews, input, ttlMs, maxUserBytes, clock, log } = options
  let problem: Problem | undefined
  let streams = false

  const save = async (response: Members): Promise<void> => {
    const output = Array.isArray(response.output) ? response.output.map(toOutputItem) : []
    const createdAt = clock.now()
    const stored = await store.storeResponse(
      {
        ...{ id: String(response.id), user, previous, renews, createdAt, expiresAt: createdAt + ttlMs },
        response: JSON.stringify({ ...response, output: [] }),
        items: [...input, ...output],
      },
      maxUserBytes,
    )
    if (!stored) throw new Error(`the response is larger than the ${maxUserBytes} bytes that a user may store`)
  }

  return {
    requireRoom: () => requireRoom(store),
    recordResponse: (response) =>
      save(response as Members).catch((cause: unknown) => {
        // In a stream, the error is an event.
        if (streams) log.warn({ err: cause, user }, 'response could not be recorded')
        problem = notRecorded(cause)
        throw problem
      }),
    wrapReader(reader) {
      streams = true
      return reader
    },
    backgroundResponse: undefined,
    get problem() {
      return problem
    },
  }
}

type Members = Readonly<Record<string, unknown>>

const toOutputItem = (item: Members): StoredItem => ({
  id: String(item.id),
  isOutput: true,
  json: JSON.stringify(item),
})

/** The items of an input, in steps. */
export function* toInputItems(items: readonly Json[]): SteppedWork<readonly StoredItem[]> {
  const pace = new Pace()
  const stored: StoredItem[] = []
  for (const item of items) {
    if (pace.isDue()) yield
    stored.push(toInputItem(item))
  }
  return stored
}

/** An item as the protocol lists it: with an id, a type and a status, and with parts instead of a text. */
const toInputItem = (item: Json): StoredItem => {
  const type = shortStringOf(item.get('type')) ?? 'message'
  const id = readId(shortStringOf(item.get('id'))) ?? newGatewayId(idPrefixes.get(type) ?? 'item_')
  const changes: MemberChange[] = [
    ['id', toJson(id)],
    ['type', toJson(type)],
  ]
  if (idPrefixes.has(type) && type !== 'reasoning' && !item.get('status')?.isString)
    changes.push(['status', toJson('completed')])
  const content = type === 'message' ? item.get('content') : undefined
  if (content?.isString) {
    const isOutput = shortStringOf(item.get('role')) === 'assistant'
    const part = isOutput ? '{"type":"output_text","annotations":[],"text":' : '{"type":"input_text","text":'
    changes.push(['content', composeJson(['[', part, content, '}]'])])
  }
  const parts = partsOf(item.edit(changes).pieces)
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  // The bytes of a large item are those of the request, which are counted until the end of the stream.
  return { id, isOutput: false, json: length > bytesPerTurn ? parts : Buffer.concat(parts).toString() }
}

/** The prefixes of ids by type of item. Items of these types have a status. */
const idPrefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg_'],
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
  ['function_call_output', 'fco_'],
  ['custom_tool_call', 'ctc_'],
  ['custom_tool_call_output', 'ctco_'],
])
