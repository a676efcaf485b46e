import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

export interface CommandResult {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** Runs `bun run admin` in a process, with these variables. */
export const runCommand = (
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'src/admin.ts'), ...args], {
      env: { ...process.env, ...environment },
    })
    const output = { out: '', err: '' }
    child.stdout.on('data', (chunk) => {
      output.out += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.err += chunk
    })
    child.on('close', (status) => resolve({ status, ...output }))
    child.stdin.end()
  })
