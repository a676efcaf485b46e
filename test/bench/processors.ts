import { readFileSync } from 'node:fs'

/** The processors on which this process may run. Empty where those of a new process cannot be chosen. */
export const processors = (): readonly number[] => {
  if (process.platform !== 'linux' || Bun.which('taskset') === null) return []
  return numbersOf(/^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '')
}

/** The command of a process that runs on these processors only. `taskset` (util-linux) becomes the process itself. */
export const onProcessors = (numbers: readonly number[] | undefined, command: readonly string[]): string[] =>
  numbers ? ['taskset', '--cpu-list', numbers.join(','), ...command] : [...command]

/** @param list such as `0-2,5` */
export const numbersOf = (list: string): readonly number[] =>
  list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, nth) => first + nth)
  })
