/**
 * Writes bytes. A returned promise applies backpressure: it resolves when the reader wants more bytes or has cancelled.
 */
export type Write = (bytes: Uint8Array) => Promise<unknown> | undefined

/** A producer of bytes, which a server can write to a connection without a stream. */
export interface ByteSource {
  /**
   * Writes all bytes, then resolves. If it rejects, the body is incomplete, and the server must not end it normally.
   * Called once.
   */
  writeTo(write: Write): Promise<void>
  /** Stops the source, because the reader has cancelled: `writeTo` ends soon. Never rejects. */
  cancel(reason?: unknown): Promise<void>
  /**
   * The same bytes in a file. A server may send them instead of calling `writeTo`, and must call `cancel` when it has
   * ended.
   */
  readonly file?: FilePart
}

/** A part of a file. */
export interface FilePart {
  readonly path: string
  /** The first and the last byte, both included. */
  readonly first: number
  readonly last: number
}

const sources = new WeakMap<Response, ByteSource>()

/**
 * A response whose body comes from a byte source.
 *
 * Its body is a normal stream. A server that calls `byteSourceOf` can write the bytes without that stream, which
 * doubles the cost of a small chunk.
 */
export const responseFrom = (source: ByteSource, init: ResponseInit): Response => {
  const response = new Response(streamFrom(source), init)
  sources.set(response, source)
  return response
}

/**
 * The byte source of a response from `responseFrom`; else undefined. The caller must then not use the response's body.
 */
export const byteSourceOf = (response: Response): ByteSource | undefined => sources.get(response)

/**
 * The bytes of a source as a stream. The source starts at the first read, and waits for the next read after each write.
 */
export const streamFrom = (source: ByteSource): ReadableStream<Uint8Array> => {
  let started = false
  let cancelled = false
  /** Resolves at the next read. */
  let wanted: PromiseWithResolvers<void> | undefined
  const resume = () => {
    wanted?.resolve()
    wanted = undefined
  }
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const write: Write = (bytes) => {
      wanted ??= Promise.withResolvers()
      // A pending read may cause the next read synchronously, and so resolve `wanted` before it is returned.
      controller.enqueue(bytes)
      return wanted?.promise
    }
    source.writeTo(write).then(
      () => cancelled || controller.close(),
      (error: unknown) => controller.error(error),
    )
  }
  return new ReadableStream(
    {
      pull(controller) {
        resume()
        if (started) return
        started = true
        start(controller)
      },
      cancel(reason) {
        cancelled = true
        resume()
        return source.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** A byte source that reads from a stream. */
export const sourceFrom = (body: ReadableStream<Uint8Array>): ByteSource => {
  const reader = body.getReader()
  return {
    async writeTo(write) {
      for (let read = await reader.read(); !read.done; read = await reader.read()) await write(read.value)
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  }
}
