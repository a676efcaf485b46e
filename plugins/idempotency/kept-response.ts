import { knownBody, responseOf } from '../shared/http/body/known-body.ts'
import { readAtMost } from '../shared/http/body/read-body.ts'
import { noStoreHeaders } from '../shared/http/no-store.ts'
import type { KeptResponse } from './store.ts'

/** The headers that are kept with a response. Others belong to one request or to one connection. */
const keptHeaders = [
  'content-type',
  'content-language',
  'location',
  'content-security-policy',
  'x-content-type-options',
  'x-upstream-request-id',
] as const

/** Marks a response that an earlier request has received already (https://docs.stripe.com/error-low-level). */
export const replayedHeader = 'idempotent-replayed'

/** What to keep of a response. The response itself can still be sent. Its body is not kept above `maxBytes`. */
export const readKept = async (response: Response, maxBytes: number): Promise<KeptResponse> => {
  const headers: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = response.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return { status: response.status, headers, body: await bodyOf(response, maxBytes) }
}

const bodyOf = async (response: Response, maxBytes: number): Promise<KeptResponse['body']> => {
  const known = knownBody(response)
  if (known === undefined) return readAtMost(response.clone() as Response, maxBytes)
  const bytes = typeof known === 'string' ? new TextEncoder().encode(known) : known
  return bytes.length <= maxBytes ? bytes : undefined
}

/** The response for a repetition. */
export const replayOf = ({ status, headers }: KeptResponse, body: Uint8Array<ArrayBuffer>): Response => {
  const init = { status, headers: new Headers({ ...noStoreHeaders, ...headers, [replayedHeader]: 'true' }) }
  return body.length === 0 ? new Response(null, init) : responseOf(body, init)
}
