import { parseArgs } from 'node:util'
import { UsageError } from './arguments.ts'
import type { CommandContext } from './context.ts'

/** Flags with a value. */
export type Flag =
  | ('password' | 'label' | 'expires' | 'type' | 'name' | 'user' | 'action' | 'status' | 'since' | 'until' | 'head')
  | ('role' | 'team' | 'external-id' | 'limits' | 'scopes' | 'models' | 'overlap' | 'upstream-id' | 'search' | 'state')
  | ('token' | 'model' | 'kind' | 'group-by' | 'used-since' | 'unused-since' | 'account')
/** Flags without a value. */
export type Switch = 'json' | 'csv' | 'service' | 'invite'
export type Flags = Readonly<Partial<Record<Flag, string> & Record<Switch, boolean>>>

/** A command: its arguments, and what it does. */
export interface Command {
  /** Minimum and maximum number of positional arguments. */
  readonly positionals: readonly [number, number]
  /** Default: none. */
  readonly flags?: readonly Flag[]
  /** Default: none. */
  readonly switches?: readonly Switch[]
  /** The command migrates the store itself, if it needs it. Default: it is migrated before. */
  readonly worksOffline?: boolean
  readonly run: (positionals: readonly string[], flags: Flags, on: CommandContext) => Promise<void>
}

/** Commands by their first words. */
export type Commands = Readonly<Record<string, Command>>

/** A command with its arguments. */
export interface ParsedCommand {
  readonly command: Command
  readonly positionals: readonly string[]
  readonly flags: Flags
}

/** Finds the command by the first arguments, and parses the others. Throws UsageError. */
export const parseCommand = (args: readonly string[], commands: Commands): ParsedCommand => {
  for (const [name, command] of Object.entries(commands)) {
    const named = name.split(' ')
    if (!named.every((word, index) => word === args[index])) continue
    const { positionals, flags } = parseFlags(args.slice(named.length), command)
    if (positionals.length < command.positionals[0] || positionals.length > command.positionals[1])
      throw new UsageError('wrong number of arguments')
    return { command, positionals, flags }
  }
  throw new UsageError(args.length === 0 ? 'a command is missing' : 'there is no such command')
}

const parseFlags = (
  args: readonly string[],
  { flags: known = [], switches = [] }: Command,
): { positionals: readonly string[]; flags: Flags } => {
  const options = {
    ...Object.fromEntries(known.map((flag) => [flag, { type: 'string' as const }])),
    ...Object.fromEntries(switches.map((name) => [name, { type: 'boolean' as const }])),
  }
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
    return { positionals, flags: values as Flags }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments cannot be read')
  }
}
