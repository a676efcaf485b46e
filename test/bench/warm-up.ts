import type { Started } from './processes.ts'

/** Part of the CPU time of a process that compiles JavaScript when it is warm. */
const warmPart = 0.03
const maxWarmUps = 10

/**
 * Repeats a job until the process compiles hardly anything: until then a gateway takes two to four times as long, and
 * the threads that compile count, too. Once, where they cannot be told apart from others (Node).
 */
export const warmUp = async (
  { cpuMs, compilingMs }: Pick<Started, 'cpuMs' | 'compilingMs'>,
  ask: () => Promise<unknown>,
): Promise<void> => {
  for (let nth = 0; nth < maxWarmUps; nth++) {
    const [before, beforeCompiling] = [cpuMs(), compilingMs()]
    await ask()
    if (compilingMs() - beforeCompiling <= warmPart * (cpuMs() - before)) return
  }
}
