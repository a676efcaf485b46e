import type { Clock } from '../../shared/clock.ts'
import { byteSourceOf, responseFrom } from '../../shared/http/body/byte-source.ts'
import { bodyOfLength, countedSource, endingSource } from '../../shared/http/body/streamed-file.ts'
import { withInertHeaders } from '../../shared/http/headers.ts'
import { inFlightOf } from '../../shared/http/in-flight.ts'
import { contentTypeOf } from '../../shared/media/file-type.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import type { FileLinks } from '../links.ts'
import type { ByteRange, FileInfo, Storage } from '../storage/storage.ts'
import type { OpenDownloads } from './open-downloads.ts'

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
  async (request: Request, folder: string, name: string): Promise<Response> => {
    const key = `${folder}/${name}`
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

/**
 * What a GET or HEAD of a file gets (RFC 9110 sections 13 and 14): all of it, one range, nothing new, or no such range.
 */
export type Selection =
  | { readonly status: 200 | 206; readonly range: ByteRange }
  | { readonly status: 304 | 416; readonly range?: undefined }

/**
 * Selects what a request asks for. A `Range` with several ranges, or in another unit, is ignored, as section 14.2
 * permits.
 */
export const selectRange = (headers: Headers, info: FileInfo): Selection => {
  if (isUnchanged(headers, info)) return { status: 304 }
  const whole: Selection = { status: 200, range: { first: 0, last: info.size - 1 } }
  const field = headers.get('range')
  if (field === null || !rangeApplies(headers.get('if-range'), info)) return whole
  const [, from = '', to = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(field) ?? []
  if (from === '' && to === '') return whole
  if (from !== '' && to !== '' && Number(to) < Number(from)) return whole
  const first = from === '' ? Math.max(0, info.size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? info.size - 1 : Math.min(Number(to), info.size - 1)
  return first > last ? { status: 416 } : { status: 206, range: { first, last } }
}

/** Section 13.1.2: with `If-None-Match`, `If-Modified-Since` does not count. */
const isUnchanged = (headers: Headers, info: FileInfo): boolean => {
  const tags = headers.get('if-none-match')
  if (tags !== null) {
    return tags.split(',').some((tag) => ['*', info.etag].includes(tag.trim().replace(/^W\//, '')))
  }
  const since = Date.parse(headers.get('if-modified-since') ?? '')
  return !Number.isNaN(since) && wholeSeconds(info.modifiedAt) <= since
}

/** Section 13.1.5: the range counts only for the same file. */
const rangeApplies = (ifRange: string | null, info: FileInfo): boolean =>
  ifRange === null || ifRange === info.etag || ifRange === new Date(info.modifiedAt).toUTCString()

const wholeSeconds = (time: number): number => Math.floor(time / 1000) * 1000
