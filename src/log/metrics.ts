import { Counter, type Registry } from 'prom-client'
import type { LeveledLog } from '../log.ts'

/** Adds the number of lines that the log could not write to a registry. */
export const countDroppedLines = (registry: Registry, log: LeveledLog): void => {
  let counted = 0
  new Counter({
    name: 'sluice_log_lines_dropped_total',
    help: 'Lines of the log that could not be written: the disk is full, or the reader of the log does not read.',
    registers: [registry],
    collect() {
      const dropped = log.droppedLines?.() ?? 0
      this.inc(dropped - counted)
      counted = dropped
    },
  })
}
