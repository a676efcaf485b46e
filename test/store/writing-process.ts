import { setImmediate } from 'node:timers'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'

// A process that `several-writers.test.ts` starts: it writes one transaction after another, prints `waiting` when its
// event loop has turned while the first one waits, and at the end the number of errors.
const [path = '', writer = '', transactions = '0', rows = '0'] = process.argv.slice(2)
const database = openSqlite(path, { deadlineMs: 60_000 })
let errors = 0
const write = (number: number): Promise<unknown> => {
  const statement = sql`insert into written (writer, number) values (${writer}, ${number})`
  return database.batch(Array.from({ length: Number(rows) }, () => statement)).catch(() => errors++)
}

const first = write(0)
for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
console.log('waiting')
await first
for (let number = 1; number < Number(transactions); number++) await write(number)
console.log(`${errors} errors`)
await database.close()
process.exit(0)
