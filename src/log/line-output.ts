import { systemClock } from '../../plugins/shared/clock.ts'

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
