import { databaseKindOf, databaseUrlForms } from '../store/database/kinds.ts'
import {
  address,
  dayMs,
  days,
  daysFrom0,
  seconds,
  secondsAbove0,
  secretList,
  secretListForm,
} from './environment/parsers.ts'
import { createReader, type Environment, type Problems, type Read } from './environment/reader.ts'

/** The database, and how long it keeps what. It is all that the admin commands need. */
export interface DatabaseConfig {
  readonly store: {
    readonly url: string
    /** See `StoreOptions`. */
    readonly deadlineMs: number
  }
  readonly audit: {
    /** How long audit entries are kept. 0: no audit trail. */
    readonly keepMs: number
    /** The first signs new entries, the others verify older ones. Empty: the database keeps a key. */
    readonly keys: readonly string[]
  }
}

/** Reads `DATABASE_URL`, `DATABASE_TIMEOUT_SECONDS`, `AUDIT_DAYS` and `AUDIT_KEY`. */
export const readDatabase = (read: Read): DatabaseConfig => ({
  store: {
    url:
      read('DATABASE_URL', `must be ${databaseUrlForms}`, (url) => (databaseKindOf(url) ? url : undefined)) ??
      'sqlite:data/sluice.db',
    deadlineMs: read('DATABASE_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 3_000,
  },
  audit: {
    keepMs: read('AUDIT_DAYS', daysFrom0, days(0)) ?? 90 * dayMs,
    keys: read('AUDIT_KEY', secretListForm, secretList) ?? [],
  },
})

/** Reads only what the admin commands need. */
export const readAdminConfig = (env: Environment): DatabaseConfig | Problems => {
  const problems: string[] = []
  const config = readDatabase(createReader(env, (problem) => problems.push(problem)))
  return problems.length > 0 ? { problems } : config
}

/**
 * The address that browsers use: `PUBLIC_URL`, or that of `HOST` and `PORT`. Only commands that print a link need it.
 */
export const readPublicAddress = ({ PUBLIC_URL, HOST, PORT }: Environment): string =>
  address(PUBLIC_URL ?? '') ?? `http://${HOST || '127.0.0.1'}:${PORT || 3_000}`

/** `SESSION_SECRET`. Only commands that sign, or print the keys of signatures, need it. */
export const readSessionSecrets = ({ SESSION_SECRET }: Environment): readonly string[] | Problems => {
  const problems: string[] = []
  const read = createReader({ SESSION_SECRET }, (problem) => problems.push(problem))
  const secrets = read('SESSION_SECRET', secretListForm, secretList) ?? []
  return problems.length > 0 ? { problems } : secrets
}
