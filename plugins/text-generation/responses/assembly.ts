import { Buffer } from 'node:buffer'
import type { SseEvent } from '../../sse-relay/index.ts'
import { type Assembly, StreamError } from '../assembly.ts'
import { jsonOf } from '../events/event.ts'
import { emptyResponse } from './empty-response.ts'
import { endings, reducers } from './events.ts'
import { createItems } from './items.ts'
import { isMutableObject, isText, type MutableObject } from './mutable-json.ts'
import { nothing, type ResponseState } from './reducers.ts'
import { endedWith, truncateItems } from './truncate.ts'

/** A response of the Responses protocol, put together from its events. */
export interface ResponsesAssembly extends Assembly {
  /** What is known of the response, without half calls; undefined before anything was created. */
  readonly snapshot: object | undefined
  /** Highest `sequence_number` seen; -1 when none. */
  readonly sequenceNumber: number
}

export interface ResponsesAssemblyOptions {
  /** The request's body, parsed: a response that has to be made up echoes it. Read only then. */
  readonly request: unknown
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The part of an id behind `resp_` or `item_`, for what has to be made up. Default: random. */
  readonly newId?: () => string
  /** How much text, in bytes, the events may bring; a text counts again when it is repeated as a whole. Default 64 MiB. */
  readonly maxBytes?: number
}

export const createResponsesAssembly = (options: ResponsesAssemblyOptions): ResponsesAssembly => {
  const { now, newId = () => crypto.randomUUID().replaceAll('-', ''), maxBytes = 64 * 2 ** 20 } = options
  const answer: ResponseState = { items: createItems(newId), response: undefined, end: undefined }
  let sequenceNumber = -1
  let bytes = 0
  let over = false
  let made: MutableObject | undefined

  const skeleton = (): MutableObject => {
    made ??= emptyResponse(options.request, `resp_${newId()}`, now())
    return made
  }

  /** The response so far. Usage is believed only at the end. */
  const begun = (): MutableObject => ({
    ...skeleton(),
    ...answer.response,
    usage: null,
    output: truncateItems(answer.items.all()),
  })

  const ended = ({ status, response }: NonNullable<ResponseState['end']>): MutableObject => {
    const { usage: _, ...before } = answer.response ?? {}
    const whole: MutableObject = { ...before, ...response }
    if (!isText(response.status)) whole.status = status
    const slots = answer.items.all()
    const isEmpty = !Array.isArray(response.output) || response.output.length === 0
    if (isEmpty) whole.output = endedWith(status, slots)
    return isText(whole.id) ? whole : { ...skeleton(), ...whole }
  }

  return {
    push(event) {
      const text = event.data.trim()
      over ||= text === '[DONE]'
      if (over || (text === '' && event.type !== 'error')) return
      const said = read(event)
      if (isCount(said.sequence_number)) sequenceNumber = Math.max(sequenceNumber, said.sequence_number)
      // Deaf to what follows the end, except that it went wrong after all.
      const type = typeof said.type === 'string' ? said.type : event.type
      const effect = answer.end ? nothing : (reducers.get(type) ?? nothing)
      if (effect === nothing) return
      // There is but one end, and it is no longer than an event may be: that an answer too long to be kept is whole has to be known all the same.
      if (!endings.has(type)) {
        bytes += weightOf(said, event.data)
        if (bytes > maxBytes) throw new StreamError(`upstream sent more than ${maxBytes} bytes`)
      }
      effect(said, answer)
    },
    get complete() {
      return answer.end !== undefined
    },
    result() {
      if (!answer.end) throw new StreamError('upstream ended its response early')
      return JSON.stringify(ended(answer.end))
    },
    partial() {
      if (answer.end) return JSON.stringify(ended(answer.end))
      const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      return JSON.stringify({ ...begun(), ...cut, error: null, completed_at: null }, withoutHalf)
    },
    get usage() {
      return isMutableObject(answer.end?.response.usage) ? answer.end.response.usage : undefined
    },
    get snapshot() {
      if (answer.end) return ended(answer.end)
      return answer.response || answer.items.all().length > 0 ? begun() : undefined
    },
    get sequenceNumber() {
      return sequenceNumber
    },
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** Text without half a character (a high surrogate) at its end, whose other half did not come in time. */
const withoutHalf = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && /[\ud800-\udbff]$/.test(value.slice(-1)) ? value.slice(0, -1) : value

/** Nothing is in it for data that is JSON but no object. Throws StreamError for an error in either of the protocols' forms, and for what is not JSON. */
const read = (event: SseEvent): MutableObject => {
  const { type, data } = event
  const said = jsonOf(event)
  if (said === undefined && type !== 'error') throw new StreamError('upstream sent an event that is not JSON')
  const fields = isMutableObject(said) ? said : {}
  const isError =
    type === 'error' || fields.type === 'error' || (Boolean(fields.error) && !isMutableObject(fields.response))
  if (!isError) return fields
  const error = isMutableObject(fields.error) ? fields.error : isMutableObject(said) ? said : { message: data }
  const message = [error.message, fields.error].find(isText)
  throw new StreamError(message ?? 'upstream reported an error', error)
}

/** Most of a delta is what surrounds it, and goes at once. */
const weightOf = (event: MutableObject, data: string): number => {
  const isBare = typeof event.delta === 'string' && !(Array.isArray(event.logprobs) && event.logprobs.length > 0)
  return Buffer.byteLength(isBare ? (event.delta as string) : data)
}

/**
 * What ends a Responses stream that broke off, as complete SSE events: `response.failed` with what is known of the response, where anything was created, for
 * clients that wait for one of the protocol's own endings, and behind it an `error` event, which the official client raises.
 */
export const failedEvents = (assembly: ResponsesAssembly, message: string): string => {
  const { snapshot } = assembly
  let sequence_number = assembly.sequenceNumber
  const error = { code: 'server_error', message }
  const written = (event: MutableObject & { type: string }): string =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: ++sequence_number })}\n\n`
  const failed = snapshot
    ? written({ type: 'response.failed', response: { ...snapshot, status: 'failed', error, completed_at: null } })
    : ''
  return failed + written({ type: 'error', ...error, param: null })
}
