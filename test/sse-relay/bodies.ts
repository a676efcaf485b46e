/** A body that delivers one piece per read. */
export const bodyOf = (pieces: readonly (Uint8Array | string)[]): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[at++]
      if (piece === undefined) controller.close()
      else controller.enqueue(bytesOf(piece))
    },
  })
}

/** A body that a test fills, ends and breaks. It records its cancellation. */
export class ControlledBody {
  readonly body: ReadableStream<Uint8Array>
  /** The reasons of its cancellations. */
  readonly cancelled: unknown[] = []
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor() {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: (reason) => {
        this.cancelled.push(reason)
      },
    })
  }

  send(piece: Uint8Array | string): void {
    this.#controller?.enqueue(bytesOf(piece))
  }

  end(): void {
    this.#controller?.close()
  }

  break(error: unknown): void {
    this.#controller?.error(error)
  }
}

export const bytesOf = (piece: Uint8Array | string): Uint8Array =>
  typeof piece === 'string' ? new TextEncoder().encode(piece) : piece

export const joined = (pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces))

/** All bytes of a stream. Rejects when the stream breaks. */
export const collected = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  for await (const piece of stream) pieces.push(piece)
  return joined(pieces)
}

/** The text of a stream up to its end or its error. */
export const readAll = async (stream: ReadableStream<Uint8Array>): Promise<{ text: string; error?: unknown }> => {
  const reader = stream.getReader()
  const pieces: Uint8Array[] = []
  const textOf = () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(joined(pieces))
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value)
    return { text: textOf() }
  } catch (error) {
    return { text: textOf(), error }
  }
}
