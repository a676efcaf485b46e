import { type TextGenerationOptions, textGeneration, type UsageEntry } from '../../plugins/text-generation/index.ts'

/** An upstream request. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of every shape
  readonly json: any
  readonly signal: AbortSignal
}

export interface TextApp {
  /** The upstream requests, in order. */
  readonly asked: UpstreamRequest[]
  /** The recorded usage. */
  readonly usage: UsageEntry[]
  post(
    path: string,
    body: unknown,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>
  get(path: string): Promise<Response>
  ask(path: string, init: RequestInit): Promise<Response>
}

/** The plugin with a scripted upstream, without sockets. Every caller with an Authorization header is `ann` with the token `t1`. */
export const openApp = (
  respond: (asked: UpstreamRequest) => Response | Promise<Response>,
  options: Partial<TextGenerationOptions> = {},
): TextApp => {
  const asked: UpstreamRequest[] = []
  const usage: UsageEntry[] = []
  const app = textGeneration({
    upstreams: [{ url: 'http://upstream.invalid/v1', key: 'the-upstream-key' }],
    identify: (request) => (request.headers.has('authorization') ? { user: 'ann', token: 't1' } : undefined),
    usage: { recordUsage: async (entry) => void usage.push(entry) },
    fetch: async (url, init) => {
      const text = init.body === undefined || init.body === null ? '' : await new Response(init.body).text()
      const signal = init.signal ?? new AbortController().signal
      const json: unknown = text === '' ? undefined : JSON.parse(text)
      const call: UpstreamRequest = {
        url,
        method: init.method ?? 'GET',
        headers: new Headers(init.headers),
        text,
        json,
        signal,
      }
      asked.push(call)
      signal.throwIfAborted()
      return respond(call)
    },
    ...options,
  })
  const ask = async (path: string, init: RequestInit) => app.handle(new Request(`http://localhost/v1${path}`, init))
  return {
    asked,
    usage,
    ask,
    post: (path, body, { headers, signal } = {}) =>
      ask(path, {
        method: 'POST',
        headers: { authorization: 'Bearer x', 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal,
      }),
    get: (path) => ask(path, { headers: { authorization: 'Bearer x' } }),
  }
}

/** How a scripted stream ends. */
export type Ending = 'close' | 'reset' | 'stall'

/** A stream of events, given by their data. With `stall` it ends only when it is cancelled. */
export const streaming = (
  data: readonly (object | string)[],
  ending: Ending = 'close',
  signal?: AbortSignal,
): Response =>
  streamingText(
    data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
    ending,
    signal,
  )

/** A stream of raw text pieces. */
export const streamingText = (text: string, ending: Ending = 'close', signal?: AbortSignal): Response => {
  let sent = false
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => {
          try {
            controller.error(signal.reason)
          } catch {}
        })
      },
      pull(controller) {
        if (!sent && text !== '') {
          sent = true
          controller.enqueue(new TextEncoder().encode(text))
          return
        }
        if (ending === 'close') controller.close()
        if (ending === 'reset') controller.error(new Error('ECONNRESET'))
        if (ending === 'stall') return new Promise(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req-1' } })
}

/** A chunk of a chat stream. */
export const chunk = (delta: object, finish: string | null = null, index = 0): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'm',
  choices: [{ index, delta, finish_reason: finish }],
})

/** A response object of the upstream, with one message: `whole`. */
export const wholeResponse = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'whole', annotations: [] }],
    },
  ],
}

export const usageChunk = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}

/** The data of all events in a text. */
export const dataOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
