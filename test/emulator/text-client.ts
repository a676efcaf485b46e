import { connect } from 'node:net'
import OpenAI from 'openai'
import type { Emulator } from '../../src/emulator/index.ts'

/** The official client with its defaults, but without retries. */
export const clientOf = (
  emulator: Emulator,
  options: { readonly maxRetries?: number; readonly apiKey?: string } = {},
) => new OpenAI({ baseURL: emulator.text.url, apiKey: emulator.text.key, maxRetries: 0, ...options })

export const MODEL = 'doubao-seed-emulated'

/** Creates a response with the official client. */
export const createResponse = (client: OpenAI, input: unknown, more: object = {}) =>
  client.responses.create({ model: MODEL, input, ...more } as OpenAI.Responses.ResponseCreateParamsNonStreaming)

/** The error of a promise that rejects; undefined if it is fulfilled. */
export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

/** The body of a chat completion request. */
export const chat = (content: string, more: object = {}) => ({
  ...{ model: MODEL, messages: [{ role: 'user', content }] },
  ...more,
})

/** Sends a POST request without the official client. A string or bytes are sent unchanged. */
export const post = (emulator: Emulator, path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(emulator, 'POST', path, { 'content-type': 'application/json', ...headers }, body)

/** Sends a request without the official client. */
export const call = async (
  emulator: Emulator,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
) => {
  const response = await fetch(emulator.text.url + path, {
    method,
    headers: { authorization: `Bearer ${emulator.text.key}`, ...headers },
    body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  const json: any = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json }
}

/** The data of each event of a stream, parsed if it is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests read events of every form
export const dataOf = (text: string): any[] =>
  [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => (data.startsWith('{') ? JSON.parse(data) : data))

/** A response as received by a raw socket: the head, the chunks of the body, and how it ended. */
export interface Wire {
  readonly head: string
  readonly chunks: readonly Buffer[]
  readonly body: string
  /** `whole` when the body is complete, else `end` or the code of the socket error */
  readonly end: string
}

/** Sends a request over a raw socket and reads until the connection closes or the response is complete. */
export const wire = (emulator: Emulator, path: string, body: object): Promise<Wire> => {
  const { hostname, port } = new URL(emulator.origin)
  const bytes = Buffer.from(JSON.stringify(body))
  const head =
    `POST /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${emulator.text.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`
  return new Promise((resolve) => {
    const seen: Buffer[] = []
    const all = () => parseResponse(Buffer.concat(seen))
    let end = 'end'
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.concat([Buffer.from(head), bytes])))
    socket.on('data', (data: Buffer) => {
      seen.push(data)
      // parses only when this can be the end; otherwise many small chunks would be joined again and again
      if (/0\r\n\r\n$|[}>]$|\r\n\r\n$/.test(data.subarray(-8).toString('latin1')) && all().whole) socket.destroy()
    })
    socket.on('error', (error) => {
      end = 'code' in error ? String(error.code) : String(error)
    })
    socket.on('close', () => {
      const { head, chunks, whole } = all()
      resolve({ head, chunks, body: Buffer.concat(chunks).toString(), end: whole ? 'whole' : end })
    })
  })
}

const parseResponse = (seen: Buffer) => {
  const split = seen.indexOf('\r\n\r\n')
  const head = seen.subarray(0, Math.max(0, split)).toString()
  const rest = split < 0 ? Buffer.alloc(0) : seen.subarray(split + 4)
  const length = head.match(/^content-length: (\d+)/im)?.[1]
  if (length !== undefined)
    return { head, chunks: [rest.subarray(0, Number(length))], whole: rest.length >= Number(length) }
  const chunks: Buffer[] = []
  for (let at = 0; at < rest.length; ) {
    const line = rest.indexOf('\r\n', at)
    if (line < 0) break
    const size = Number.parseInt(rest.subarray(at, line).toString(), 16)
    if (size === 0) return { head, chunks, whole: true }
    chunks.push(rest.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
  return { head, chunks, whole: false }
}
