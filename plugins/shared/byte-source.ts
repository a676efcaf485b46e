/** Takes bytes. A promise says that these were enough for now: it resolves when more are wanted, or when nobody will take any more. */
export type Write = (bytes: Uint8Array) => Promise<unknown> | undefined

/** Bytes that come into being while they are sent. */
export interface ByteSource {
  /** Writes all of them, and resolves. Rejects where they break off: then they must not end as if they were complete. Called once. */
  writeTo(write: Write): Promise<void>
  /** Nobody will take any more: `writeTo` comes to an end. Never rejects. */
  cancel(reason?: unknown): Promise<void>
}

const sources = new WeakMap<Response, ByteSource>()

/**
 * A response with such bytes. Its body is a stream like any other; but a server that knows `byteSourceOf` takes them without a stream in between, which costs as much again
 * for each of many small pieces.
 */
export const responseFrom = (source: ByteSource, init: ResponseInit): Response => {
  const response = new Response(streamFrom(source), init)
  sources.set(response, source)
  return response
}

/** What a response's body is made from, for whoever does not touch the body; undefined for any other response than those of `responseFrom`. */
export const byteSourceOf = (response: Response): ByteSource | undefined => sources.get(response)

/** The bytes as a stream: they are asked for when it is read, and no faster. */
export const streamFrom = (source: ByteSource): ReadableStream<Uint8Array> => {
  let begun = false
  let over = false
  /** Resolves when the stream is read again. */
  let wanted: PromiseWithResolvers<void> | undefined
  const resume = () => {
    wanted?.resolve()
    wanted = undefined
  }
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const write: Write = (bytes) => {
      wanted ??= Promise.withResolvers()
      // Whoever waits for it may read on at once.
      controller.enqueue(bytes)
      return wanted?.promise
    }
    source.writeTo(write).then(
      () => over || controller.close(),
      (error: unknown) => controller.error(error),
    )
  }
  return new ReadableStream(
    {
      pull(controller) {
        resume()
        if (begun) return
        begun = true
        begin(controller)
      },
      cancel(reason) {
        over = true
        resume()
        return source.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The bytes of a stream. */
export const sourceFrom = (body: ReadableStream<Uint8Array>): ByteSource => {
  const reader = body.getReader()
  return {
    async writeTo(write) {
      for (let read = await reader.read(); !read.done; read = await reader.read()) await write(read.value)
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  }
}
