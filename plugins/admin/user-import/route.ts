import { readBytes } from '../../shared/http/body/body.ts'
import { Problem } from '../../shared/problem.ts'
import type { AdminHandler } from '../http/call.ts'
import type { CreateOnce } from '../http/create-once.ts'
import type { AdminActor } from '../operations/actor.ts'
import { CsvError } from './csv-records.ts'
import type { UserImportStore } from './store.ts'
import { createUserImport, type ImportOutcome, type UserImportTools } from './user-import.ts'

/** Longest file: some 20,000 users. The command line takes longer ones. */
const maxFileBytes = 1_048_576
/** Wrong lines that a message names. */
const maxWrongLines = 20
/** Audit entries that are written at once. */
const recordedAtOnce = 50

/** The route that adds the users of a CSV file. */
export const importRoute =
  ({
    store,
    clock,
    createOnce,
  }: Pick<UserImportTools, 'clock'> & {
    readonly store: Partial<UserImportStore>
    readonly createOnce: CreateOnce
  }): AdminHandler =>
  async ({ actor, identity, request }) => {
    if (!canImport(store)) throw new Problem(404, 'this server does not import users')
    if (!/^\s*text\/csv\s*(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
      throw new Problem(415, 'content type must be text/csv')
    const bytes = await readBytes(request, maxFileBytes)
    if (!bytes) throw new Problem(413, `the file is longer than ${maxFileBytes} bytes: split it`)
    const importUsers = createUserImport(store, { clock, recordAll: recorderOf(actor) })
    return createOnce(request, { user: identity.user, route: 'POST /users/import', bytes }, async () => {
      const outcome = await importUsers(bytes).catch((error: unknown) => {
        throw error instanceof CsvError ? new Problem(400, error.message) : error
      })
      if ('wrong' in outcome) throw nothingImported(outcome)
      return { shown: { success: true, users: outcome.users.map(({ id, name }) => ({ id, name })) } }
    })
  }

const canImport = (store: Partial<UserImportStore>): store is UserImportStore => store.importUsers !== undefined

const recorderOf =
  (actor: AdminActor): UserImportTools['recordAll'] =>
  async (events) => {
    for (let from = 0; from < events.length; from += recordedAtOnce) {
      const some = events.slice(from, from + recordedAtOnce)
      await Promise.all(some.map(({ event, affected }) => actor.record(event, affected)))
    }
  }

/** Problem 400 with a line for each of the first wrong ones. */
const nothingImported = ({ wrong, lines }: Extract<ImportOutcome, { readonly wrong: unknown }>): Problem => {
  const shown = wrong.slice(0, maxWrongLines).map(({ line, reasons }) => `line ${line}: ${reasons.join('; ')}`)
  const more = wrong.length > shown.length ? ['…'] : []
  return new Problem(
    400,
    [`nothing is imported: ${wrong.length} of ${lines} users are wrong`, ...shown, ...more].join('\n'),
  )
}
