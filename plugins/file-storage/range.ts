import type { ByteRange, FileInfo } from './storage/storage.ts'

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
