import type { AuditEvent } from '../../shared/audit.ts'
import { nextTurn, Pace } from '../../shared/background/turns.ts'
import { nameKey } from '../../shared/identity/name-key.ts'
import { Problem } from '../../shared/problem.ts'
import { storeCall } from '../../shared/store-call.ts'
import { type Input, optional, readExternalId, readName, readRole } from '../fields.ts'
import type { OperationTools } from '../operation-tools.ts'
import { failures } from '../operations/users.ts'
import { type CsvRecord, csvRecords } from './csv-records.ts'
import type { ImportedUser, RejectedUser, UserImportStore } from './store.ts'

/** A line that is not a user who can be added. */
export interface WrongLine {
  readonly line: number
  readonly reasons: readonly string[]
}

/** What became of an import: the new users in the order of the file, or what is wrong with it. Then none was added. */
export type ImportOutcome =
  | { readonly users: readonly { readonly id: string; readonly name: string }[] }
  | { readonly wrong: readonly WrongLine[]; readonly lines: number }

/** Bytes of a file of users. */
export const maxImportBytes = 10 * 2 ** 20
/** Users of one file. */
const maxImportedUsers = 100_000

const columns = ['name', 'role', 'team', 'external_id']

/** The message when the store fails. */
const unavailable = 'users could not be imported'

/** What an import needs besides the store. */
export interface UserImportTools extends Pick<OperationTools, 'clock'> {
  /** Resolves when the events, of the users of these ids, are in the audit trail. */
  recordAll(events: readonly { readonly event: AuditEvent; readonly affected: string }[]): Promise<void>
}

/**
 * Creates the operation that adds the users of a CSV file: all of them, or none. It looks for everything that is wrong
 * before it adds anybody. Throws CsvError for a file without the columns, and Problem 413 for one with too many users.
 */
export const createUserImport =
  (store: UserImportStore, { clock, recordAll }: UserImportTools) =>
  async (csv: Uint8Array): Promise<ImportOutcome> => {
    const lines = await readLines(csv, store)
    const users = lines.map(({ user }) => user)
    const add = (rejected: readonly RejectedUser[]) => {
      for (const { index, reason } of rejected) lines[index]?.reasons.push(failures[reason]().message)
    }
    add(await storeCall(store.rejectedUsers(users), unavailable))
    if (lines.every(({ reasons }) => reasons.length === 0)) {
      const outcome = await storeCall(store.importUsers(users, clock.now()), unavailable)
      if ('ids' in outcome) {
        const added = lines.map(({ user, fields }, index) => ({
          id: outcome.ids[index] ?? '',
          name: user.name,
          fields,
        }))
        // Before the response, as for a single user.
        await recordAll(
          added.map(({ id, fields }) => ({
            event: { action: 'user.create', target: { kind: 'user', id }, fields },
            affected: id,
          })),
        )
        return { users: added }
      }
      add(outcome.rejected)
    }
    return { wrong: lines.filter(({ reasons }) => reasons.length > 0), lines: lines.length }
  }

interface ReadLine {
  readonly line: number
  readonly user: ImportedUser
  /** The columns that have a value. */
  readonly fields: readonly string[]
  readonly reasons: string[]
}

const readLines = async (csv: Uint8Array, store: UserImportStore): Promise<readonly ReadLine[]> => {
  const teamOf = createTeamReader(store)
  const seen = { name: new Map<string, number>(), external_id: new Map<string, number>() }
  const lines: ReadLine[] = []
  const pace = new Pace()
  for (const record of csvRecords(csv, columns, 'name')) {
    if (lines.length === maxImportedUsers)
      throw new Problem(413, `the file has more than ${maxImportedUsers} users: split it`)
    if (pace.isDue()) await nextTurn()
    const { user, fields, reasons } = readUser(record)
    const { line } = record
    const note = (column: keyof typeof seen, value: string | undefined) => {
      const first = value === undefined ? undefined : seen[column].get(value)
      if (first !== undefined) reasons.push(`line ${first} has the same ${column}`)
      else if (value !== undefined) seen[column].set(value, line)
    }
    note('name', user.name === '' ? undefined : nameKey(user.name))
    note('external_id', user.externalId)
    const team = 'fields' in record ? await teamOf(record.fields.team ?? '', reasons) : undefined
    lines.push({ line, user: { ...user, team }, fields, reasons })
  }
  return lines
}

/** The user of a record, with an empty name if it has none, and what is wrong with it. */
const readUser = (record: CsvRecord): Omit<ReadLine, 'line'> => {
  if ('problem' in record) return { user: { name: '', role: 'user' }, fields: [], reasons: [record.problem] }
  const reasons: string[] = []
  // An empty field is like one that is absent.
  const given: Input = Object.fromEntries(Object.entries(record.fields).filter(([, value]) => value !== ''))
  const read = <Value>(column: string, reader: (value: unknown, field: string) => Value): Value | undefined => {
    try {
      return column === 'name' ? reader(record.fields.name, column) : optional(given, column, reader)
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem
      reasons.push(problem.message)
      return undefined
    }
  }
  const user = {
    ...{ name: read('name', readName) ?? '', role: read('role', readRole) ?? ('user' as const) },
    externalId: read('external_id', readExternalId),
  }
  return { user, fields: Object.keys(given), reasons }
}

/** Finds teams by name, each once. */
const createTeamReader = (store: UserImportStore) => {
  const ids = new Map<string, string | undefined>()
  return async (name: string, reasons: string[]): Promise<string | undefined> => {
    if (name === '') return undefined
    if (!ids.has(name)) ids.set(name, await storeCall(findTeam(store, name), unavailable))
    const id = ids.get(name)
    if (id === undefined) reasons.push(failures['unknown-team']().message)
    return id
  }
}

/** A name that no team can have is not looked for: the store does not take every text. */
const findTeam = async (store: UserImportStore, name: string): Promise<string | undefined> => {
  try {
    readName(name, 'team')
  } catch {
    return undefined
  }
  return (await store.teamByName(name))?.id
}
