import { jsonReply, type Reply } from '../faults/faulty-reply.ts'

/** The file or the one range of it that the request asks for (RFC 9110 section 14). */
export const fileReply = (bytes: Uint8Array, range: string | undefined, headers: Record<string, string>): Reply => {
  const all = { ...headers, 'accept-ranges': 'bytes' }
  const [, from = '', to = ''] = range?.match(/^bytes=(\d*)-(\d*)$/) ?? []
  if (from === '' && to === '') return { status: 200, headers: all, body: bytes }
  const first = from === '' ? Math.max(0, bytes.length - Number(to)) : Number(from)
  const last = from === '' || to === '' ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1)
  if (first > last)
    return { status: 416, headers: { ...all, 'content-range': `bytes */${bytes.length}` }, body: Buffer.alloc(0) }
  const contentRange = `bytes ${first}-${last}/${bytes.length}`
  return { status: 206, headers: { ...all, 'content-range': contentRange }, body: bytes.subarray(first, last + 1) }
}

/** An error of the object store: JSON in a form of its own. */
export const storeError = (
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Reply => jsonReply(status, JSON.stringify({ Code: code, Message: message }), headers)

/** The time of a signed link, in ms since 1970. NaN for a text that is none. */
export const linkTime = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
