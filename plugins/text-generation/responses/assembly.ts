import { Buffer } from 'node:buffer'
import type { Clock } from '../../shared/clock.ts'
import type { SseEvent } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { type Assembly, StreamError, withoutLoneSurrogate } from '../protocol/assembly.ts'
import { finalStatuses, reducers } from './event-types.ts'
import { initialResponse } from './initial-response.ts'
import { createOutputItems, finalItems, truncateItems } from './items.ts'
import { isMutableObject, isNonEmptyString, type MutableObject } from './mutable-json.ts'
import { ignore, type ResponseState } from './reducers.ts'

/** Assembles a response from the events of a Responses stream. */
export interface ResponsesAssembly extends Assembly {
  /** The response so far, without incomplete tool calls. Undefined before the first event about it. */
  readonly snapshot: object | undefined
  /** Highest `sequence_number` of the events; -1 before the first. */
  readonly sequenceNumber: number
}

export interface ResponsesAssemblyOptions {
  /**
   * The parsed request body. Read only when the gateway has to create a response: that repeats fields of the request.
   */
  readonly request: unknown
  readonly clock: Pick<Clock, 'now'>
  /** Makes the part of an id after `resp_` or `item_`, where the upstream sends no id. Default: random. */
  readonly newId?: () => string
  /** Most bytes of text in all events together. Text that an event repeats counts again. Default 64 MiB. */
  readonly maxBytes?: number
}

export const createResponsesAssembly = (options: ResponsesAssemblyOptions): ResponsesAssembly => {
  const { clock, newId = () => crypto.randomUUID().replaceAll('-', ''), maxBytes = 64 * 2 ** 20 } = options
  const state: ResponseState = { items: createOutputItems(newId), response: undefined, end: undefined }
  let sequenceNumber = -1
  let bytes = 0
  let ended = false
  let defaults: MutableObject | undefined

  const defaultResponse = (): MutableObject => {
    defaults ??= initialResponse(options.request, { id: `resp_${newId()}`, createdAt: Math.floor(clock.now() / 1000) })
    return defaults
  }

  /** The response before its end. Usage is reliable only at the end. */
  const unfinishedResponse = (): MutableObject => ({
    ...defaultResponse(),
    ...state.response,
    usage: null,
    output: truncateItems(state.items.all()),
  })

  const finishedResponse = ({ status, response }: NonNullable<ResponseState['end']>): MutableObject => {
    const { usage: _, ...before } = state.response ?? {}
    const whole: MutableObject = { ...before, ...response }
    if (!isNonEmptyString(response.status)) whole.status = status
    const slots = state.items.all()
    const hasNoOutput = !Array.isArray(response.output) || response.output.length === 0
    if (hasNoOutput) whole.output = finalItems(status, slots)
    return isNonEmptyString(whole.id) ? whole : { ...defaultResponse(), ...whole }
  }

  return {
    push(event) {
      const text = event.data.trim()
      ended ||= text === '[DONE]'
      if (ended || (text === '' && event.type !== 'error')) return
      const members = readMembers(event)
      if (isCount(members.sequence_number)) sequenceNumber = Math.max(sequenceNumber, members.sequence_number)
      // After a final event only errors count.
      const type = typeof members.type === 'string' ? members.type : event.type
      const reducer = state.end ? ignore : (reducers.get(type) ?? ignore)
      if (reducer === ignore) return
      // The final event does not count: it is limited like any event, and a response that is too large is still
      // complete.
      if (!finalStatuses.has(type)) {
        bytes += sizeOf(members, event.data)
        if (bytes > maxBytes) throw new StreamError(`upstream sent more than ${maxBytes} bytes`)
      }
      reducer(members, state)
    },
    get complete() {
      return state.end !== undefined
    },
    result() {
      if (!state.end) throw new StreamError('upstream ended its response early')
      return JSON.stringify(finishedResponse(state.end))
    },
    partial() {
      if (state.end) return JSON.stringify(finishedResponse(state.end))
      const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      return JSON.stringify({ ...unfinishedResponse(), ...cut, error: null, completed_at: null }, withoutLoneSurrogate)
    },
    get hasUpstreamId() {
      return state.end !== undefined || state.response !== undefined
    },
    get usage() {
      return isMutableObject(state.end?.response.usage) ? state.end.response.usage : undefined
    },
    get snapshot() {
      if (state.end) return finishedResponse(state.end)
      return state.response || state.items.all().length > 0 ? unfinishedResponse() : undefined
    },
    get sequenceNumber() {
      return sequenceNumber
    },
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/**
 * The members of an event's data; none for JSON that is not an object. Throws StreamError for an error event, and for
 * data that is not JSON.
 */
const readMembers = (event: SseEvent): MutableObject => {
  const { type, data } = event
  const json = jsonOf(event)
  if (json === undefined && type !== 'error') throw new StreamError('upstream sent an event that is not JSON')
  const members = isMutableObject(json) ? json : {}
  const isError =
    type === 'error' || members.type === 'error' || (Boolean(members.error) && !isMutableObject(members.response))
  if (!isError) return members
  const error = isMutableObject(members.error) ? members.error : isMutableObject(json) ? json : { message: data }
  const message = [error.message, members.error].find(isNonEmptyString)
  throw new StreamError(message ?? 'upstream reported an error', error)
}

/** Bytes of an event that the assembly keeps. Of a plain delta it keeps only the text. */
const sizeOf = (event: MutableObject, data: string): number => {
  const isPlain = typeof event.delta === 'string' && !(Array.isArray(event.logprobs) && event.logprobs.length > 0)
  return Buffer.byteLength(isPlain ? (event.delta as string) : data)
}

/**
 * The events that end a broken Responses stream, as SSE text.
 *
 * First `response.failed` with the response so far, if there is one, for clients that wait for a final event of the
 * protocol. Then an `error` event, which OpenAI's client raises.
 */
export const failedEvents = (assembly: ResponsesAssembly, message: string): string => {
  const { snapshot } = assembly
  let sequence_number = assembly.sequenceNumber
  const error = { code: 'server_error', message }
  const write = (event: MutableObject & { type: string }): string =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: ++sequence_number })}\n\n`
  const failed = snapshot
    ? write({ type: 'response.failed', response: { ...snapshot, status: 'failed', error, completed_at: null } })
    : ''
  return failed + write({ type: 'error', ...error, param: null })
}
