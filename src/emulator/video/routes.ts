import type { ReceivedRequest } from '../action.ts'
import type { VideoAction } from '../action-names.ts'
import { pathParts, unescaped } from '../shared/paths.ts'
import { isJson, type Json } from '../shared/reader.ts'
import { resultPath } from './results/results.ts'
import { VideoError } from './video-error.ts'

/** Base path of video generation. */
export const videoPath = '/api/v3'

const tasksPath = ['contents', 'generations', 'tasks']
const maxBodyBytes = 64 * 2 ** 20
/** Longer request targets are rejected, as most servers do. The vendor documents no limit. */
const maxTargetBytes = 8192

/** Whether a request target belongs to video generation or its results. */
export const isVideo = (target: string): boolean => /^\/api\/v3(?:[/?]|$)/.test(target) || isResult(target)

const isResult = (target: string): boolean => target.startsWith(resultPath)

type Methods = Readonly<Record<string, VideoAction>>
const collection: Methods = { POST: 'CreateVideoTask', GET: 'ListVideoTasks' }
const single: Methods = { GET: 'GetVideoTask', DELETE: 'DeleteVideoTask' }

const resourceOf = (target: string): { readonly methods: Methods; readonly id: string } | undefined => {
  if (isResult(target)) return { methods: { GET: 'DownloadVideoResult', HEAD: 'DownloadVideoResult' }, id: '' }
  const [, , ...parts] = pathParts(target)
  if (!tasksPath.every((part, index) => parts[index] === part)) return undefined
  const [id, ...more] = parts.slice(tasksPath.length)
  if (more.length > 0) return undefined
  return id === undefined ? { methods: collection, id: '' } : { methods: single, id: unescaped(id) }
}

/** The action of a request; empty when no action matches. */
export const videoActionOf = ({ method, target }: ReceivedRequest): VideoAction | '' =>
  resourceOf(target)?.methods[method] ?? ''

/** The action and the task id of a request. Throws 401, 404, 405, 413 or 414. */
export const authorizeVideo = (request: ReceivedRequest, key: string) => {
  const { authorization = '' } = request.headers
  if (authorization !== `Bearer ${key}`) {
    const signed = /^HMAC-SHA256\b/i.test(authorization)
    const message = signed
      ? 'AK/SK authentication is not supported for this API, please use an API key.'
      : 'The API key in the request is missing or invalid.'
    throw new VideoError(401, 'AuthenticationError', message)
  }
  const resource = resourceOf(request.target)
  if (resource === undefined) throw new VideoError(404, 'InvalidPath', 'There is nothing under this path.')
  const action = resource.methods[request.method]
  if (action === undefined) {
    const headers = { allow: Object.keys(resource.methods).join(', ') }
    throw new VideoError(405, 'MethodNotAllowed', `The method ${request.method} is not allowed here.`, { headers })
  }
  if (request.target.length > maxTargetBytes) throw new VideoError(414, 'InvalidParameter', 'The URL is too long.')
  if (request.bytes.length > maxBodyBytes)
    throw new VideoError(413, 'RequestBodyTooLarge', 'The request body exceeds 64 MB.')
  return { action, id: resource.id }
}

/** The JSON object of a body. Throws 400 for any other body. */
export const videoBodyOf = ({ body }: ReceivedRequest): Json => {
  try {
    const json: unknown = JSON.parse(body)
    if (isJson(json)) return json
  } catch {
    // the same error as for JSON that is no object
  }
  throw new VideoError(400, 'InvalidParameter', 'The request body must be a JSON object.')
}
