import type { StoredEvent } from './store.ts'

/** An event as it is sent: in a stream, and as the body of a webhook. */
export interface EventMessage {
  /** For example `video.succeeded`. */
  readonly type: string
  /** ISO 8601, in UTC. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The JSON of an event (`EventMessage`), in one line. */
export const eventJson = ({ type, data, at }: Pick<StoredEvent, 'type' | 'data' | 'at'>): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${isoOf(at)}","data":${toLine(data)}}`

/**
 * The largest and the smallest time of a `Date`: for any other, `toISOString` throws, and events of all users are read
 * and sent together.
 */
const maxTime = 8.64e15

const isoOf = (at: number): string => new Date(Math.max(-maxTime, Math.min(at, maxTime))).toISOString()

/** Line ends can only be between the tokens of a JSON text: in strings they are escaped (RFC 8259 section 7). */
const toLine = (json: string): string => (/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, ' ') : json)

const encoder = new TextEncoder()

/** An event as a frame of a stream. */
export const frameOf = (event: Pick<StoredEvent, 'id' | 'type' | 'data' | 'at'>): Uint8Array =>
  encoder.encode(`id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`)

/** The events of the stream itself. They have no id, so they do not change where a client resumes. */
export const streamEvents = ['stream.start', 'stream.gap', 'stream.end'] as const

/** A frame about the stream itself. @param id where a client resumes that receives nothing more */
export const controlFrame = (
  type: (typeof streamEvents)[number],
  at: number,
  { id, data = {}, retryMs }: { readonly id?: string; readonly data?: object; readonly retryMs?: number } = {},
): Uint8Array =>
  encoder.encode(
    `${retryMs === undefined ? '' : `retry: ${retryMs}\n`}${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${eventJson({ type, at, data: JSON.stringify(data) })}\n\n`,
  )

/** A comment that keeps the connection open. With an id, a client resumes after events that its filter has left out. */
export const heartbeatFrame = (id: string | undefined): Uint8Array =>
  encoder.encode(id === undefined ? ': keep-alive\n\n' : `id: ${id}\n\n`)
