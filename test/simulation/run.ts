import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ScheduleResult } from './schedule.ts'

/** What a schedule has shown, with the fault that was planted. */
export interface SimulationResult extends ScheduleResult {
  readonly fault?: string
}

/** Runs `main.ts` in a process of its own, whose clock and timers are those of the simulation. */
export const simulate = async (...args: readonly string[]): Promise<readonly SimulationResult[]> => {
  const child = spawn(process.execPath, [join(import.meta.dir, 'main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const results: SimulationResult[] = []
  for await (const line of createInterface({ input: child.stdout })) results.push(JSON.parse(line))
  const code = await ended
  if (code !== 0) throw new Error(`the simulation has ended with status ${code}`)
  return results
}

/** How to see what a schedule has done. */
export const replayOf = ({ seed, violations }: ScheduleResult, fault?: string): string =>
  `bun test/simulation/main.ts --trace --seed ${seed}${fault ? ` --fault '${fault}'` : ''}: ${violations.join('; ')}`
