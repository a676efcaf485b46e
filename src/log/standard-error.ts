import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { systemClock } from '../../plugins/shared/clock.ts'

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

/** Writes lines, and never throws: a log that cannot be written must not fail a request. */
export interface LineOutput {
  write(line: string): void
  /** How many lines have been dropped since the start. */
  dropped(): number
}

/**
 * Drops the lines that `write` throws for, and counts them. Before the next line that can be written, it writes one
 * with the number of dropped lines.
 *
 * @param write receives whole lines with their line ends
 */
export const dropUnwritten = (write: (line: string) => void): LineOutput => {
  let dropped = 0
  let reported = 0
  return {
    write(line) {
      try {
        // In one write, because the short notice alone may fit where no line does.
        write(reported < dropped ? noticeOf(dropped - reported) + line : line)
        reported = dropped
      } catch {
        dropped++
      }
    },
    dropped: () => dropped,
  }
}

const noticeOf = (dropped: number): string => {
  const fields = {
    level: 'warn',
    time: new Date(systemClock.now()).toISOString(),
    dropped,
    msg: 'lines of the log could not be written',
  }
  return `${JSON.stringify(fields)}\n`
}
