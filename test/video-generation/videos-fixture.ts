import { readFields } from '../../plugins/video-generation/videos/request/fields.ts'
import { createFields, type ModelAliases, toTask } from '../../plugins/video-generation/videos/request/video-request.ts'

/** The signature of a PNG, and some bytes. */
export const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 0xff])

const boundary = 'x-boundary'

/** A part of a form. */
export const part = (name: string, value: string, more = ''): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`

export const end = `--${boundary}--\r\n`

/** A request with a form in its own words. */
export const rawForm = (body: string | Uint8Array<ArrayBuffer>, type = `multipart/form-data; boundary=${boundary}`) =>
  new Request('http://localhost/v1/videos', { method: 'POST', headers: { 'content-type': type }, body })

/** A request with a form, as client libraries send it. */
export const formRequest = (fields: Readonly<Record<string, string | Blob>>): Request => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return new Request('http://localhost/v1/videos', { method: 'POST', body: form })
}

export const jsonRequest = (body: unknown): Request =>
  new Request('http://localhost/v1/videos', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

export const read = (request: Request, names: readonly string[] = createFields, maxBodyBytes = 2 ** 25) =>
  readFields(request, { names, maxBodyBytes })

/** What these tests read of a native request. */
export interface TaskRequest {
  readonly [field: string]: unknown
  readonly content: readonly {
    readonly type: string
    readonly text?: string
    readonly role?: string
    readonly image_url?: { readonly url: string }
    readonly video_url?: { readonly url: string }
  }[]
}

/** The native request and the notes for a request. */
export const translate = async (request: Request, aliases: ModelAliases = { 'sora-2': 'seedance' }) => {
  const { body, notes } = toTask(await read(request), aliases)
  return { body: body.value() as TaskRequest, notes }
}
