import type { ReceivedRequest } from '../../action.ts'
import type { Reply } from '../../faults/faulty-reply.ts'
import { fileReply, storeError } from '../../files/file-reply.ts'
import type { LinkSigner } from '../../files/link-signer.ts'
import { sha256 } from '../../shared/hash.ts'
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

/** Creates the object store. `base` returns the base URL of links. */
export const createResults = (
  settings: VideoSettings,
  signer: LinkSigner,
  now: () => number,
  base: () => string,
): Results => {
  const files = new Map<string, { readonly task: VideoTask; readonly kind: Kind; downloads: number }>()

  const linkOf = (task: VideoTask, kind: Kind): string => {
    const extension = kind === 'frame' ? 'jpeg' : (task.request.outputFormat ?? 'mp4')
    const key = signer.fileName(`${task.id} ${kind}`)
    const path = `${resultPath}ark-content-generation/${task.model.id}/${key}.${extension}`
    if (!files.has(path)) files.set(path, { task, kind, downloads: 0 })
    const time = settings.renewsLinks ? now() : (task.endTime ?? now())
    return `${settings.resultsUrl || base()}${path}?${signer.query(path, time, Math.floor(settings.linkMs / 1000))}`
  }

  const linksOf = (task: VideoTask): ResultLinks => ({
    video_url: linkOf(task, 'video'),
    ...(task.request.returnLastFrame && { last_frame_url: linkOf(task, 'frame') }),
  })

  const reply = (request: ReceivedRequest): Reply => {
    const { pathname, searchParams } = new URL(request.target, 'http://results')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return storeError(405, 'MethodNotAllowed', 'The method is not allowed.', { allow: 'GET, HEAD' })
    const refusal = signer.refusal(pathname, searchParams)
    if (refusal) return refusal
    const file = files.get(pathname)
    if (file === undefined) return storeError(404, 'NoSuchKey', 'The specified key does not exist.')
    if (request.method === 'GET' && ++file.downloads > settings.maxDownloads)
      return storeError(403, 'AccessDenied', 'The object has been downloaded too often.')
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
