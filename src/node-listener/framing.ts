import { Problem } from '../../plugins/shared/problem.ts'

/** The fields that say how a request is framed, and whom it is for. */
export interface Framing {
  readonly host: string | undefined
  readonly length: string | undefined
  readonly coding: string | undefined
  /** Whether any of them came more than once. */
  readonly repeated: boolean
}

/** In one walk over names and values by turns, as they came. */
export const framingOf = (rawHeaders: readonly string[]): Framing => {
  let host: string | undefined
  let length: string | undefined
  let coding: string | undefined
  let repeated = false
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // By its length first: most are none of these.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      repeated ||= host !== undefined
      host = rawHeaders[at + 1]
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      repeated ||= length !== undefined
      length = rawHeaders[at + 1]
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      repeated ||= coding !== undefined
      coding = rawHeaders[at + 1]
    }
  }
  return { host, length, coding, repeated }
}

/** Whether a request that is framed so has a body (RFC 9112 section 6). */
export const hasBody = ({ length, coding }: Framing): boolean =>
  coding !== undefined || (length !== undefined && length !== '0')

/**
 * What is wrong with how a request is framed, before anything is made of it; undefined when nothing is.
 *
 * Two that read such a request differently, as a proxy and this server may, could be made to take a part of it for another one (RFC 9112 section 11.2).
 */
export const framingProblem = (
  { host, length, coding, repeated }: Framing,
  oldVersion = false,
): Problem | undefined => {
  // RFC 9112 section 3.2: one Host, neither none nor two; before HTTP/1.1 there was none. Section 6.3: a repeated length may be refused even where all values are the same.
  if (repeated || (host === undefined ? !oldVersion : !isHost(host))) return invalid
  if (length !== undefined && !/^\d+$/.test(length)) return invalid
  if (coding === undefined) return undefined
  // RFC 9112 section 6.1.
  if (length !== undefined || oldVersion) return invalid
  return coding.toLowerCase() === 'chunked' ? undefined : unsupported
}

/** Both close the connection: where such a request ends, nobody can say. */
const close = { headers: { connection: 'close' } }
const invalid = new Problem(400, 'request is not valid', close)
const unsupported = new Problem(501, 'transfer coding is not supported', close)

/** The last valid one: most requests name the same. */
let lastHost = ''

/** `uri-host [ ":" port ]` (RFC 9110 section 7.2) of letters, digits and what else is in names, or an address; empty where there is nothing to name. */
const isHost = (text: string): boolean => {
  if (text === lastHost) return true
  const [, port = '0'] = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::(\d{0,5}))?$/i.exec(text) ?? [undefined, text]
  const valid = Number(port || '0') <= 65_535
  if (valid) lastHost = text
  return valid
}
