import { expect, test } from 'bun:test'
import { openStore } from '../../../src/store/index.ts'
import { findViolations } from './find-violations.ts'

// On SQLite in memory, and with few steps. `databases.all.test.ts` does more, on both databases.
test('over several processes, with kills, lost answers and aborted calls, no limit is exceeded and all of it can be used', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  expect(await findViolations(7, [store.limits, store.limits], 200)).toEqual([])
  await store.close()
}, 300_000)
