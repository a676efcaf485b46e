import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that the processes of one run of the test command share. Without the command: of this process. */
const shared = process.env.SLUICE_RUN_FOLDER ?? tmpdir()

/** Makes a folder once in a run of the test command, and returns its path. Whoever needs it meanwhile waits. */
export const oncePerRun = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const made = join(shared, name)
  const [lock, unfinished] = [`${made}.lock`, `${made}.unfinished`]
  while (!existsSync(made)) {
    if (!take(lock)) {
      await Bun.sleep(100)
      continue
    }
    try {
      // Another process may have made it before this one had the lock.
      if (existsSync(made)) continue
      rmSync(unfinished, { recursive: true, force: true })
      mkdirSync(unfinished)
      await make(unfinished)
      renameSync(unfinished, made)
    } finally {
      rmSync(lock)
    }
  }
  return made
}

/** Takes a lock, also from a process that was killed. */
const take = (lock: string): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    if (hasEnded(lock)) rmSync(lock, { force: true })
    return false
  }
}

const hasEnded = (lock: string): boolean => {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    // It has not written its id yet.
    if (pid > 0) process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
