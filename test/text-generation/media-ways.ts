import { readJson, toJson } from '../../plugins/shared/json.ts'
import { assetsIn } from '../../plugins/text-generation/media/fields.ts'
import { TextProblem } from '../../plugins/text-generation/problem.ts'

/** A chat request with a block. */
export const block = (block: unknown) => ({ model: 'm', messages: [{ role: 'user', content: [block] }] })
/** A responses request with a part. */
export const part = (part: unknown) => ({ model: 'm', input: [{ role: 'user', content: [part] }] })

/** Every field that the protocols have for an address, and what the gateway calls it. */
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
/** Ways for an address to come in: where it is sent, what it is called there, and the request. */
export const ways = fields.map(([protocol, field, request]) => ({
  path: protocol === 'chat' ? '/chat/completions' : '/responses',
  param: `${protocol === 'chat' ? 'messages' : 'input'}[0].content[0].${field}`,
  request,
}))

/** The assets that a request names, by their fields. Throws TextProblem. */
export const addressesIn = (request: unknown) =>
  assetsIn(typeof request === 'string' ? readJson(request) : toJson(request)).map(({ id, param }) => [param, id])

/** Their ids. */
export const idsIn = (request: unknown) => addressesIn(request).map(([, id]) => id)

/** The same, or the status and field that a request is refused with. */
export const refusalOf = (request: unknown) => {
  try {
    return idsIn(request)
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error
    return [error.status, error.param]
  }
}
