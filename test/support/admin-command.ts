import { type AdminContext, runAdmin } from '../../src/admin.ts'
import type { Store } from '../../src/store/index.ts'

/** What a command of the command line has printed, and its exit status. */
export interface CommandResult {
  readonly status: number
  /** The lines on standard output. */
  readonly out: string[]
  /** The lines on standard error. */
  readonly err: string[]
}

/** Runs a command of the command line on a store: without standard input, in September 2026, unless `context` says more. */
export const runCommand = async (
  store: Store,
  args: readonly string[],
  context: Partial<AdminContext> = {},
): Promise<CommandResult> => {
  const out: string[] = []
  const err: string[] = []
  const status = await runAdmin(args, {
    store,
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    stdin: async () => '',
    clock: { now: () => 1_790_000_000_000 },
    ...context,
  })
  return { status, out, err }
}
