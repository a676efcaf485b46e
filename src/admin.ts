import description from '../package.json' with { type: 'json' }
import { systemClock } from '../plugins/shared/clock.ts'
import { FieldProblem } from '../plugins/shared/field-problem.ts'
import { Problem } from '../plugins/shared/problem.ts'
import { SettingsError, UsageError } from './admin/arguments.ts'
import { type Commands, parseCommand } from './admin/command.ts'
import { accountCommands } from './admin/commands/accounts.ts'
import { batchCommands } from './admin/commands/batches.ts'
import { consentCommands } from './admin/commands/consents.ts'
import { groupCommands } from './admin/commands/groups.ts'
import { importCommands } from './admin/commands/imports.ts'
import { reportCommands } from './admin/commands/reports.ts'
import { serverCommands } from './admin/commands/server.ts'
import { teamCommands } from './admin/commands/teams.ts'
import { tokenCommands } from './admin/commands/tokens.ts'
import { userCommands } from './admin/commands/users.ts'
import { videoCommands } from './admin/commands/videos.ts'
import { type AdminContext, withOperations } from './admin/context.ts'
import { helpOf } from './admin/help.ts'
import { readAdminConfig, readPublicAddress, readSessionSecrets } from './config/database.ts'
import { openStore } from './store/index.ts'

export type { AdminContext } from './admin/context.ts'

const commands: Commands = {
  ...userCommands,
  ...teamCommands,
  ...tokenCommands,
  ...groupCommands,
  ...batchCommands,
  ...consentCommands,
  ...accountCommands,
  ...videoCommands,
  ...reportCommands,
  ...importCommands,
  ...serverCommands,
}

/**
 * Migrates the store, runs one command, and returns the exit status: 0, 1 when the command failed, 2 for wrong usage.
 * Never rejects.
 */
export const runAdmin = async (args: readonly string[], surroundings: AdminContext): Promise<number> => {
  try {
    const { command, positionals, flags } = parseCommand(args, commands)
    if (!command.worksOffline) await surroundings.store.migrate()
    await command.run(positionals, flags, withOperations(surroundings))
    return 0
  } catch (thrown) {
    // The operations throw a Problem in place of what a report has thrown.
    const error = thrown instanceof Problem && thrown.cause instanceof SettingsError ? thrown.cause : thrown
    surroundings.err(error instanceof Error ? error.message : String(error))
    if (error instanceof UsageError) surroundings.err(helpOf(surroundings.program ?? 'admin'))
    return error instanceof UsageError || error instanceof SettingsError || isWrongFlag(error) ? 2 : 1
  }
}

/** Fields that commands take as arguments, or from standard input: what is wrong with those depends on the data. */
const argumentFields: readonly (string | undefined)[] = ['name', 'password', 'group_id', 'user', 'label']

/** Whether an operation has rejected the value of a flag. */
const isWrongFlag = (error: unknown): boolean =>
  error instanceof FieldProblem && error.status === 400 && !argumentFields.includes(error.param)

/** Runs one command on the configured database, and exits with its status. `program`: see `AdminContext`. */
export const adminCommand = async (args: readonly string[], program = 'admin'): Promise<void> => {
  if (args.includes('--help')) {
    console.log(helpOf(program))
    return
  }
  if (args.includes('--version')) {
    console.log(description.version)
    return
  }
  const config = readAdminConfig(process.env)
  if ('problems' in config) {
    for (const problem of config.problems) console.error(problem)
    process.exit(2)
  }
  const store = openStore(config.store.url, { deadlineMs: config.store.deadlineMs, auditKeys: config.audit.keys })
  const stdin = async () => {
    const chunks: Uint8Array[] = []
    for await (const chunk of process.stdin) chunks.push(chunk)
    return Buffer.concat(chunks).toString('utf8')
  }
  const status = await runAdmin(args, {
    store,
    out: console.log,
    err: console.error,
    stdin,
    clock: systemClock,
    audit: config.audit.keepMs > 0,
    auditKeys: config.audit.keys,
    publicUrl: () => readPublicAddress(process.env),
    sessionSecrets: () => readSessionSecrets(process.env),
    // Loaded only for the commands that need it: on Deno, each variable that is read needs a permission.
    reports: async () => (await import('./operators/offline-reports.ts')).offlineReports(store),
    program,
  })
  await store.close()
  // A database connection that does not respond would keep the event loop alive.
  process.exit(status)
}

if (import.meta.main) await adminCommand(process.argv.slice(2))
