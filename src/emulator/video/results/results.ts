import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReceivedRequest } from '../../action.ts'
import { jsonReply, type Reply } from '../../faults/faulty-reply.ts'
import { sha256 } from '../../shared/hash.ts'
import { basicIsoTime } from '../../shared/times.ts'
import type { VideoSettings } from '../options.ts'
import type { VideoTask } from '../tasks/task.ts'
import { frameOf, videoOf } from './sample.ts'

/** Path prefix of the results: the object store of the account. */
export const resultPath = '/tos/'

/** The kinds of files of a result. */
type Kind = 'video' | 'frame'

/** The links of a task's results. */
export interface ResultLinks {
  readonly video_url: string
  readonly last_frame_url?: string
}

/** The object store with the results. Its links are signed; no key is needed. */
export interface Results {
  /** the links of a succeeded task */
  linksOf(task: VideoTask): ResultLinks
  /** Responds to a download. Every GET counts, also one of a range */
  reply(request: ReceivedRequest): Reply
}

/** What signs the links. */
export interface LinkSigner {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
}

/** Creates the object store. `base` returns the base URL of links. */
export const createResults = (
  settings: VideoSettings,
  signer: LinkSigner,
  now: () => number,
  base: () => string,
): Results => {
  const files = new Map<string, { readonly task: VideoTask; readonly kind: Kind; downloads: number }>()

  const signatureOf = (path: string, date: string, seconds: string): string =>
    createHmac('sha256', signer.secretKey).update(`${date}\n${seconds}\n${path}`).digest('hex')

  const linkOf = (task: VideoTask, kind: Kind): string => {
    const extension = kind === 'frame' ? 'jpeg' : (task.request.outputFormat ?? 'mp4')
    const key = sha256(`${signer.secretKey} ${task.id} ${kind}`).slice(0, 40)
    const path = `${resultPath}ark-content-generation/${task.model.id}/${key}.${extension}`
    if (!files.has(path)) files.set(path, { task, kind, downloads: 0 })
    const date = basicIsoTime(settings.renewsLinks ? now() : (task.endTime ?? now()))
    const seconds = String(Math.floor(settings.linkMs / 1000))
    const scope = encodeURIComponent(`${signer.accessKey}/${date.slice(0, 8)}/${signer.region}/tos/request`)
    const signed = `X-Tos-Algorithm=TOS4-HMAC-SHA256&X-Tos-Credential=${scope}&X-Tos-Date=${date}&X-Tos-Expires=${seconds}`
    return `${settings.resultsUrl || base()}${path}?${signed}&X-Tos-Signature=${signatureOf(path, date, seconds)}&X-Tos-SignedHeaders=host`
  }

  const linksOf = (task: VideoTask): ResultLinks => ({
    video_url: linkOf(task, 'video'),
    ...(task.request.returnLastFrame && { last_frame_url: linkOf(task, 'frame') }),
  })

  const reply = (request: ReceivedRequest): Reply => {
    const { pathname, searchParams } = new URL(request.target, 'http://results')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return failure(405, 'MethodNotAllowed', 'The method is not allowed.', { allow: 'GET, HEAD' })
    const [date, seconds, signature] = ['Date', 'Expires', 'Signature'].map(
      (name) => searchParams.get(`X-Tos-${name}`) ?? '',
    )
    const expected = Buffer.from(signatureOf(pathname, date ?? '', seconds ?? ''))
    const given = Buffer.from(signature ?? '')
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return failure(403, 'SignatureDoesNotMatch', 'The request signature does not match.')
    if (now() >= timeOf(date ?? '') + Number(seconds) * 1000)
      return failure(403, 'AccessDenied', 'Request has expired.')
    const file = files.get(pathname)
    if (file === undefined) return failure(404, 'NoSuchKey', 'The specified key does not exist.')
    if (request.method === 'GET' && ++file.downloads > settings.maxDownloads)
      return failure(403, 'AccessDenied', 'The object has been downloaded too often.')
    const { task, kind } = file
    const bytes =
      kind === 'frame' ? frameOf(task.id) : videoOf(task.id, task.request.outputFormat, settings.resultBytes)
    const type = kind === 'frame' ? 'image/jpeg' : contentTypes[task.request.outputFormat ?? 'mp4']
    return fileReply(bytes, request.headers.range, {
      'content-type': type,
      etag: `"${sha256(task.id + kind).slice(0, 32)}"`,
      'last-modified': new Date(task.endTime ?? 0).toUTCString(),
    })
  }

  return { linksOf, reply }
}

const contentTypes = { mp4: 'video/mp4', mov: 'video/quicktime' } as const

/** The file or the one range of it that the request asks for (RFC 9110 section 14). */
const fileReply = (bytes: Uint8Array, range: string | undefined, headers: Record<string, string>): Reply => {
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
const failure = (status: number, code: string, message: string, headers: Record<string, string> = {}): Reply =>
  jsonReply(status, JSON.stringify({ Code: code, Message: message }), headers)

const timeOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
