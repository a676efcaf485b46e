import { type Emulator, type EmulatorOptions, startEmulator, type VideoOptions } from '../../src/emulator/index.ts'

export const MODEL = 'doubao-seedance-2-0-260128'
export const MODEL_25 = 'doubao-seedance-2-5-260628'
export const MODEL_10 = 'doubao-seedance-1-0-pro-250528'
export const START = Date.UTC(2026, 7, 1, 12)

/** An emulator with a clock that only `emulator.video.advance` moves, and whose tasks start at once. */
export const startAt = (video: VideoOptions = {}, options: EmulatorOptions = {}): Promise<Emulator> =>
  startEmulator({ clock: () => START, ...options, video: { queuedMs: 0, ...video } })

/** A text item. */
export const text = (words: string) => ({ type: 'text', text: words })
/** An image, video or audio item. */
export const media = (type: 'image' | 'video' | 'audio', url: string, role?: string) => ({
  ...{ type: `${type}_url`, [`${type}_url`]: { url } },
  ...(role === undefined ? {} : { role }),
})

/** A task, as far as tests read single fields of it. `content` and all that follows are there after a success. */
export interface TaskJson {
  readonly id: string
  readonly status: string
  readonly content: { readonly video_url: string; readonly last_frame_url: string }
  readonly error?: { readonly code: string; readonly message: string; readonly param?: string; readonly type?: string }
  readonly seed: number
  readonly duration?: number
  readonly frames?: number
  readonly usage: { readonly completion_tokens: number; readonly tool_usage?: object }
}

/** The response of any route: a task or an error, and a list. */
export interface VideoJson extends TaskJson {
  readonly items: readonly TaskJson[]
  readonly total: number
}

/** Sends a request to the tasks. `path`: a query or an id with a slash. */
export const send = async (
  { video }: Emulator,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(`${video.url}/contents/generations/tasks${path}`, {
    method,
    headers: { authorization: `Bearer ${video.key}`, 'content-type': 'application/json', ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  })
  const answer = await response.text()
  const json: VideoJson = answer.startsWith('{') ? JSON.parse(answer) : {}
  return { status: response.status, headers: response.headers, text: answer, json, code: json.error?.code }
}

/** Creates a task of a prompt. */
export const create = (emulator: Emulator, prompt = 'a cat', more: object = {}) =>
  send(emulator, 'POST', '', { model: MODEL, content: [text(prompt)], ...more })

/** Creates a task and returns its id. Throws for an error. */
export const created = async (emulator: Emulator, prompt?: string, more?: object): Promise<string> => {
  const { json, text } = await create(emulator, prompt, more)
  if (typeof json.id !== 'string') throw new Error(text)
  return json.id
}

export const get = (emulator: Emulator, id: string) => send(emulator, 'GET', `/${id}`)
export const remove = (emulator: Emulator, id: string) => send(emulator, 'DELETE', `/${id}`)
export const statusOf = async (emulator: Emulator, id: string): Promise<string> => {
  const { json, code } = await get(emulator, id)
  return json.status ?? code
}
