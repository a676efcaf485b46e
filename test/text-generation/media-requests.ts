import { FieldProblem } from '../../plugins/shared/field-problem.ts'
import { readJson, toJson } from '../../plugins/shared/json/json.ts'
import { assetsIn } from '../../plugins/shared/media/media-fields.ts'

/** A chat request with a block. */
export const block = (block: unknown) => ({ model: 'm', messages: [{ role: 'user', content: [block] }] })
/** A responses request with a part. */
export const part = (part: unknown) => ({ model: 'm', input: [{ role: 'user', content: [part] }] })

/** Every media field of the protocols, and its name in errors. */
const fields: readonly (readonly [path: string, param: string, request: (address: string) => object])[] = [
  ['chat', 'image_url.url', (url) => block({ type: 'image_url', image_url: { url, detail: 'auto' } })],
  ['chat', 'image_url', (url) => block({ type: 'input_image', image_url: url })],
  ['chat', 'video_url.url', (url) => block({ type: 'video_url', video_url: { url, fps: 1 } })],
  ['chat', 'video[1]', (url) => block({ type: 'video', video: ['https://files.example/1.png', url] })],
  ['chat', 'audio_url.url', (url) => block({ type: 'audio_url', audio_url: { url } })],
  ['chat', 'file.file_data', (url) => block({ type: 'file', file: { filename: 'a.pdf', file_data: url } })],
  ['chat', 'file.file_url', (url) => block({ type: 'file', file: { filename: 'a.pdf', file_url: url } })],
  ['responses', 'image_url', (url) => part({ type: 'input_image', image_url: url, detail: 'high' })],
  ['responses', 'file_url', (url) => part({ type: 'input_file', file_url: url })],
  ['responses', 'file_data', (url) => part({ type: 'input_file', filename: 'a.pdf', file_data: url })],
  ['responses', 'video_url', (url) => part({ type: 'input_video', video_url: url })],
]
/** Requests with a URL: the path, the name of the field in errors, and the body. */
export const mediaRequests = fields.map(([protocol, field, request]) => ({
  path: protocol === 'chat' ? '/chat/completions' : '/responses',
  param: `${protocol === 'chat' ? 'messages' : 'input'}[0].content[0].${field}`,
  request,
}))

/** The assets in a request, by field. Throws FieldProblem. */
export const addressesIn = (request: unknown) =>
  assetsIn(typeof request === 'string' ? readJson(request) : toJson(request)).map(({ id, param }) => [param, id])

/** The ids of the assets in a request. */
export const idsIn = (request: unknown) => addressesIn(request).map(([, id]) => id)

/** The ids, or the status and field of the error. */
export const rejectionOf = (request: unknown) => {
  try {
    return idsIn(request)
  } catch (error) {
    if (!(error instanceof FieldProblem)) throw error
    return [error.status, error.param]
  }
}
