import type { ByteSource } from '../../shared/http/body/byte-source.ts'

/** Where files lie: a folder, a bucket, or what a host implements. Each method rejects when the storage fails. */
export interface Storage {
  /**
   * Stores a file under a key of `checkFileKey`, in the place of an earlier one. Readers see all of it or nothing: a
   * file that is cut off, or whose body throws, is not stored. Reads the body piece by piece, whatever its length.
   * Resolves with the number of bytes.
   *
   * Rejects with FileTooLargeError when the body is longer than `maxBytes`, and with the error of the body or the
   * signal's reason.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<number>
  /** What is known of a file. Undefined: there is none. */
  find(key: string): Promise<FileInfo | undefined>
  /** The bytes of a range. Opens the file at the first read, and fails there if it is no longer the file of `info`. */
  read(key: string, info: FileInfo, range: ByteRange): ByteSource
  /** Removes a file. Resolves too when there is none. */
  remove(key: string): Promise<void>
  /**
   * Removes what calls of `put` have left that ended with their process, and began before this time. Resolves with
   * their number.
   */
  removeUnfinished(before: number): Promise<number>
  /** The memory that one call of `put` takes, in bytes. */
  readonly putBytes: number
}

export interface PutOptions {
  readonly maxBytes: number
  readonly contentType: string
  readonly signal?: AbortSignal
}

export interface FileInfo {
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  /** A strong entity tag (RFC 9110 section 8.8.3), with its quotes: another content has another one. */
  readonly etag: string
}

/** The first and the last byte, both included. `last` is below `first` in an empty file. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** A body is longer than `maxBytes`. */
export class FileTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the file is longer than ${maxBytes} bytes`)
    this.name = 'FileTooLargeError'
  }
}

/** The storage did not respond in time: it may not do so to the next call either. */
export class StorageTimeoutError extends Error {
  constructor() {
    super('the storage did not respond in time')
    this.name = 'StorageTimeoutError'
  }
}

/** Two segments, each of letters, digits, `_`, `-` and dots that are neither first nor repeated. */
const keyPattern = /^(?!.*\.\.)[a-z0-9][\w-]{0,63}\/[A-Za-z0-9][\w.-]{0,191}$/

/** Whether a text is the key of a file, such as `uploads/up_1.png`: no path can lead out of its folder. */
export const isFileKey = (key: string): boolean => keyPattern.test(key)

/** Returns the key. Throws TypeError unless it is one. */
export const checkFileKey = (key: string): string => {
  if (typeof key !== 'string' || !isFileKey(key))
    throw new TypeError('the key of a file must have the form FOLDER/NAME')
  return key
}

/**
 * The bytes of a body, up to `maxBytes`. Throws FileTooLargeError at the first byte above, and the signal's reason as
 * soon as it aborts, even while the body is silent.
 */
export async function* limited(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: Pick<PutOptions, 'maxBytes' | 'signal'>,
): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  let reject = (_reason: unknown) => {}
  const abort = () => reject(signal?.reason)
  // Not `Promise.race` with one promise for all pieces: it would keep each piece in memory until the end.
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, fail) => {
      reject = fail
      if (signal?.aborted) abort()
      else source.next().then(resolve, fail)
    })
  signal?.addEventListener('abort', abort)
  try {
    let length = 0
    for (;;) {
      const { done, value } = await next()
      if (done) return
      length += value.length
      if (length > maxBytes) throw new FileTooLargeError(maxBytes)
      if (value.length > 0) yield value
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    // Not awaited: a generator that is silent would end only with its next piece.
    source.return?.().catch(() => {})
  }
}
