import type { Clock } from '../shared/clock.ts'
import { byteSourceOf, responseFrom } from '../shared/http/body/byte-source.ts'
import { bodyOfLength, countedSource, endingSource } from '../shared/http/body/streamed-file.ts'
import { withInertHeaders } from '../shared/http/headers.ts'
import { inFlightOf } from '../shared/http/in-flight.ts'
import { contentTypeOf } from '../shared/media/file-type.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import type { FileLinks } from './links.ts'
import type { OpenDownloads } from './open-downloads.ts'
import { selectRange } from './range.ts'
import type { Storage } from './storage/storage.ts'

export interface DownloadOptions {
  readonly storage: Storage
  readonly links: FileLinks
  readonly clock: Pick<Clock, 'now'>
  readonly downloads: OpenDownloads
}

/**
 * One answer to a link that is changed or has expired, and for a file that is gone: it tells nothing about which files
 * there are.
 */
const notFound = new Problem(404, 'there is no such file, or the link to it has expired')

/**
 * Responds to GET and HEAD of a link. Throws Problem 404, 416, 429 above the limit of open downloads, and 500 when the
 * storage fails.
 */
export const download =
  ({ storage, links, clock, downloads }: DownloadOptions) =>
  async (request: Request, key: string): Promise<Response> => {
    const expiresAt = links.expiryOf(key, new URL(request.url).searchParams, clock.now())
    if (expiresAt === undefined) throw notFound
    const leave = request.method === 'HEAD' ? () => {} : await downloads.enter(key)
    let response: Response
    try {
      const found = await respondWithFile(request, { storage, key })
      if (!found) throw notFound
      const source = byteSourceOf(found)
      response = source ? responseFrom(endingSource(source, leave), found) : found
      if (!source) leave()
    } catch (error) {
      leave()
      throw error
    }
    // Until the link expires. A shared cache would go on when the file is removed.
    const maxAge = Math.floor((expiresAt - clock.now()) / 1000)
    response.headers.set('cache-control', `private, max-age=${maxAge}, immutable`)
    return response
  }

/**
 * Responds to GET and HEAD with a file: all of it or the range that the request asks for, and with 304 if the caller
 * has it already. Undefined: there is no such file. For callers that may read the file.
 *
 * Throws Problem 416, and 500 when the storage fails.
 */
export const respondWithFile = async (
  request: Request,
  { storage, key }: { readonly storage: Pick<Storage, 'find' | 'read'>; readonly key: string },
): Promise<Response | undefined> => {
  const info = await storeCall(storage.find(key), 'the storage is not available')
  if (!info) return undefined
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy,
    etag: info.etag,
    'last-modified': new Date(info.modifiedAt).toUTCString(),
  }
  const { status, range } = selectRange(request.headers, info)
  if (status === 304) return withInertHeaders(new Response(null, { status, headers }))
  if (!range) {
    throw new Problem(416, 'the file has no such range', { headers: { 'content-range': `bytes */${info.size}` } })
  }
  const type = contentTypeOf(key)
  headers['content-type'] = type ?? 'application/octet-stream'
  headers['content-disposition'] = `${type ? 'inline' : 'attachment'}; filename="${key.slice(key.indexOf('/') + 1)}"`
  headers['content-length'] = String(range.last - range.first + 1)
  if (status === 206) headers['content-range'] = `bytes ${range.first}-${range.last}/${info.size}`
  if (request.method === 'HEAD') {
    return withInertHeaders(new Response(bodyOfLength(range.last - range.first + 1), { status, headers }))
  }
  const inFlight = inFlightOf(request)
  inFlight?.streaming()
  return withInertHeaders(responseFrom(countedSource(storage.read(key, info, range), inFlight), { status, headers }))
}

/**
 * A stored page or drawing runs no script and loads nothing. A browser shows an image or video by itself in a page with
 * its own style.
 */
const contentSecurityPolicy = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"
