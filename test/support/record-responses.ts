import { ServerResponse } from 'node:http'

/** A response as a server has sent it. */
export interface SentResponse {
  /** The local port of the server. */
  readonly port: number
  readonly method: string
  /** The request target. */
  readonly target: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Undefined when it is longer than `maxBytes`, or when the response has not been sent to its end. */
  readonly body: string | undefined
}

/** Longer bodies are not recorded: tests measure the memory of streams. */
const maxBytes = 262_144

/** Calls `onResponse` with each response of the `node:http` servers of this process, just before its last byte is sent. */
export const recordResponses = (
  isRecorded: (port: number) => boolean,
  onResponse: (response: SentResponse) => void,
): void => {
  const { prototype } = ServerResponse
  const { writeHead, write, end } = prototype
  const records = new WeakMap<ServerResponse, Recorded>()

  const append = (response: ServerResponse, chunk: unknown) => {
    const record = records.get(response)
    if (!record || chunk === undefined || chunk === null || typeof chunk === 'function') return
    const bytes = Buffer.from(chunk as string)
    record.length += bytes.length
    if (record.length <= maxBytes) record.chunks.push(bytes)
    else record.chunks.length = 0
  }

  prototype.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    const port = this.req?.socket?.localPort ?? 0
    if (isRecorded(port)) {
      const headers = args.findLast((each) => typeof each === 'object') ?? {}
      records.set(this, { port, status: Number(args[0]), headers: headers as object, chunks: [], length: 0 })
    }
    return Reflect.apply(writeHead, this, args)
  } as typeof writeHead
  prototype.write = function (this: ServerResponse, ...args: unknown[]) {
    append(this, args[0])
    return Reflect.apply(write, this, args)
  } as typeof write
  prototype.end = function (this: ServerResponse, ...args: unknown[]) {
    append(this, args[0])
    const record = records.get(this)
    records.delete(this)
    if (record) {
      const { port, status, chunks, length } = record
      const headers = Object.fromEntries(
        Object.entries(record.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
      )
      const body = length <= maxBytes ? Buffer.concat(chunks).toString() : undefined
      onResponse({ port, method: this.req.method ?? '', target: this.req.url ?? '', status, headers, body })
    }
    return Reflect.apply(end, this, args)
  } as typeof end
}

interface Recorded {
  readonly port: number
  readonly status: number
  readonly headers: object
  readonly chunks: Uint8Array[]
  length: number
}
