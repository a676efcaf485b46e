import type { Clock } from '../../../plugins/shared/clock.ts'
import type { Database } from '../database/database.ts'
import { readSecret } from '../secrets.ts'
import { appendEntries } from './append.ts'
import { type ChainKey, namedKeys } from './chain.ts'
import type { NewAuditEntry } from './entry.ts'
import { verifyExport } from './export.ts'
import { type AuditLists, createAuditLists } from './lists.ts'
import { sweepAudit } from './sweep.ts'
import { type AuditReport, type VerifyAuditOptions, verifyAudit } from './verify.ts'

/** The audit trail. */
export interface AuditRecords extends AuditLists {
  /**
   * Writes all entries, or none, at the end of the chain: each has a number, and an HMAC over it and the entry before.
   */
  recordAudit(entries: readonly NewAuditEntry[]): Promise<void>
  /**
   * Deletes the oldest entries from before the time `before`, at most `max`. Returns their number. Of the chain it
   * deletes the beginning only: an older entry stays until those before it are old.
   */
  sweepAudit(before: number, max: number): Promise<number>
  /** Verifies the chain: each entry, that none is missing between them, and where it begins and ends. */
  verifyAudit(options?: VerifyAuditOptions): Promise<AuditReport>
  /** Verifies the lines of an exported trail with the keys of the store. It reads nothing else of the store. */
  verifyAuditExport(lines: AsyncIterable<string>, options?: VerifyAuditOptions): Promise<AuditReport>
  /** The keys that verify the chain, for a check of an exported file. The first one signs. */
  auditKeys(): Promise<readonly ChainKey[]>
}

/** Options of `createAuditStore`. */
export interface AuditStoreOptions {
  /** The configured keys of the chain. The first one signs; without any, a secret of the database does. */
  readonly secrets: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}

/** The audit trail. Its table has no foreign keys: entries outlive the users, tokens and groups that they name. */
export const createAuditStore = (database: Database, { secrets, clock }: AuditStoreOptions): AuditRecords => {
  const lists = createAuditLists(database)
  let known: readonly [ChainKey, ...ChainKey[]] | undefined
  const auditKeys = async () => {
    known ??= await chainKeys(database, secrets)
    return known
  }

  return {
    ...lists,
    auditKeys,

    async recordAudit(entries) {
      const unique = [...new Map(entries.map((entry) => [entry.id, entry])).values()]
      if (unique.length === 0) return
      const [{ secret }] = await auditKeys()
      await database.transaction(() => appendEntries(unique, secret))
    },

    async sweepAudit(before, max) {
      const keys = await auditKeys()
      return database.transaction(() => sweepAudit({ before, max, now: clock.now(), keys }))
    },

    async verifyAudit(options = {}) {
      return verifyAudit(database, lists, await auditKeys(), options)
    },

    async verifyAuditExport(lines, { head } = {}) {
      return verifyExport(lines, await auditKeys(), head)
    },
  }
}

/** The configured keys, then the secret of the database, with which the chain of a store without keys is signed. */
const chainKeys = async (
  database: Database,
  configured: readonly string[],
): Promise<readonly [ChainKey, ...ChainKey[]]> => {
  const own = { name: 'database', secret: await readSecret(database, 'audit') }
  const [first = own, ...others] = [...namedKeys(configured), own]
  return [first, ...others]
}
