import { Problem } from '../../plugins/shared/problem.ts'

/** The header fields that determine the framing of a request, and its host. */
export interface Framing {
  readonly host: string | undefined
  readonly contentLength: string | undefined
  readonly transferEncoding: string | undefined
  /** Whether one of these fields occurs more than once. */
  readonly repeated: boolean
}

/** @param rawHeaders alternating names and values, as in `IncomingMessage.rawHeaders` */
export const readFraming = (rawHeaders: readonly string[]): Framing => {
  let host: string | undefined
  let contentLength: string | undefined
  let transferEncoding: string | undefined
  let repeated = false
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Compares the length first, because most names are none of these.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      repeated ||= host !== undefined
      host = rawHeaders[at + 1]
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      repeated ||= contentLength !== undefined
      contentLength = rawHeaders[at + 1]
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      repeated ||= transferEncoding !== undefined
      transferEncoding = rawHeaders[at + 1]
    }
  }
  return { host, contentLength, transferEncoding, repeated }
}

/** Whether the request has a body (RFC 9112 section 6). */
export const hasBody = ({ contentLength, transferEncoding }: Framing): boolean =>
  transferEncoding !== undefined || (contentLength !== undefined && contentLength !== '0')

/**
 * The error for a request with ambiguous framing. Undefined for a valid request.
 *
 * A proxy and this server may read an ambiguous request differently, which permits request smuggling (RFC 9112 section
 * 11.2).
 */
export const checkFraming = (
  { host, contentLength, transferEncoding, repeated }: Framing,
  isHttp10 = false,
): Problem | undefined => {
  // RFC 9112 section 3.2: exactly one Host, except in HTTP/1.0. Section 6.3: a server may reject repeated lengths even
  // if they are equal.
  if (repeated || (host === undefined ? !isHttp10 : !isHost(host))) return invalid
  if (contentLength !== undefined && !/^\d+$/.test(contentLength)) return invalid
  if (transferEncoding === undefined) return undefined
  // RFC 9112 section 6.1.
  if (contentLength !== undefined || isHttp10) return invalid
  return transferEncoding.toLowerCase() === 'chunked' ? undefined : unsupported
}

/** The connection must close, because the end of such a request is unknown. */
const closing = { headers: { connection: 'close' } }
const invalid = new Problem(400, 'request is not valid', closing)
const unsupported = new Problem(501, 'transfer coding is not supported', closing)

/** The latest valid host: most requests have the same. */
let lastHost = ''

/**
 * `uri-host [ ":" port ]` (RFC 9110 section 7.2): a name of letters, digits, `.`, `_`, `~` and `-`, or an IP address;
 * may be empty.
 */
const isHost = (text: string): boolean => {
  if (text === lastHost) return true
  const [, port = '0'] = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::(\d{0,5}))?$/i.exec(text) ?? [undefined, text]
  const valid = Number(port || '0') <= 65_535
  if (valid) lastHost = text
  return valid
}
