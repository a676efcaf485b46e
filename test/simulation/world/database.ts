import { type Database, isList } from '../../../src/store/database/database.ts'
import { DatabaseBusyError, StoreError } from '../../../src/store/database/error.ts'
import { sqliteDatabase } from '../../../src/store/database/sqlite.ts'
import type { Statement } from '../../../src/store/database/statement.ts'
import { openStore, type Store } from '../../../src/store/index.ts'
import type { Channel, Outcome, Sender } from './channel.ts'

const textOf = ({ strings, values }: Statement): string =>
  `${strings.join('?').replace(/\s+/g, ' ').trim().slice(0, 90)} ${JSON.stringify(values)}`

const fail = (outcome: Exclude<Outcome, 'done'>): never => {
  if (outcome === 'refused') throw new DatabaseBusyError(undefined)
  throw new StoreError(`the database request failed: ${outcome}`)
}

/**
 * The database as one gateway sees it: each query, batch and transaction of it is a request to the shared database,
 * which takes effect as a whole, or not at all, and whose answer may be lost.
 */
export const seenBy = (gateway: Sender, database: Database, channel: Channel): Database => ({
  query: (statement, deadlineMs) =>
    channel.send(gateway, textOf(statement), () => database.query(statement, deadlineMs), fail),
  batch: (statements, options) =>
    statements.length === 0
      ? database.batch(statements, options)
      : channel.send(gateway, statements.map(textOf).join('; '), () => database.batch(statements, options), fail),
  transaction: (steps, deadlineMs) =>
    channel.send(gateway, firstOf(steps().next().value), () => database.transaction(steps, deadlineMs), fail),
  exclusively: (steps) => database.exclusively(steps),
  close: async () => {},
})

const firstOf = (step: unknown): string => {
  if (isList(step as Statement)) return firstOf((step as unknown as readonly Statement[])[0])
  return step ? textOf(step as Statement) : 'nothing'
}

/** A store on a database that is open. */
export const openStoreOn = (database: Database, options: Parameters<typeof openStore>[1]): Store => {
  const { open } = sqliteDatabase
  sqliteDatabase.open = () => database
  try {
    return openStore('sqlite::memory:', options)
  } finally {
    sqliteDatabase.open = open
  }
}
