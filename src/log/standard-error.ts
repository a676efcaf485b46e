import { constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Writes a part of the bytes, and returns their number. Throws when it can write none. */
type Write = (bytes: Uint8Array) => number

/**
 * Writes lines to standard error, synchronously: a line is out before the process can end. Throws when a line cannot be
 * written, also when the reader of a pipe does not read.
 */
export const toStandardError = (): ((line: string) => void) => {
  const descriptor = nonBlockingStandardError()
  return wholeLines((bytes) => writeSync(descriptor, bytes))
}

/** A line that was written in part is finished before the next one, so that lines stay apart. */
export const wholeLines = (write: Write): ((line: string) => void) => {
  let rest: Uint8Array = new Uint8Array()
  const flush = () => {
    while (rest.length > 0) rest = rest.subarray(write(rest))
  }
  return (line) => {
    flush()
    const bytes = Buffer.from(line)
    const written = write(bytes)
    rest = bytes.subarray(written)
    try {
      flush()
    } catch {
      // The next line tries again.
    }
  }
}

/**
 * A write to a full pipe, or to a terminal that is paused, would stop the process until its reader reads. The flag
 * `O_NONBLOCK` belongs to the open file description, which other processes share (open(2)). So this opens the pipe once
 * more.
 *
 * Linux only. Elsewhere, and on Deno without the permission, writes block as before.
 */
const nonBlockingStandardError = (): number => {
  try {
    const status = fstatSync(2)
    if (status.isFIFO() || status.isCharacterDevice()) {
      return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    }
  } catch {
    // Not permitted, or no such path.
  }
  return 2
}
