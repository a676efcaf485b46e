/** Runs with `--all`: random sequences for each of two dozen planted faults, on both databases. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'
import { faults } from './faults.ts'
import { runSequences } from './run.ts'
import { openEmulator } from './world.ts'

eachDatabase('a fault in roles, scopes and owners', (tested) => {
  let store: Store
  let emulator: Emulator
  let database: Database
  beforeAll(async () => {
    store = await tested.open()
    emulator = await openEmulator()
    database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 3_000 })
  })
  afterAll(async () => {
    await emulator.stop()
    await database.close()
  })

  for (const [name, plant] of Object.entries(faults))
    test(`is found: ${name}`, async () => {
      const fault = plant({ store, database })
      expect(await runSequences({ store, emulator, fault, seed: 7, sequences: 60, shrink: false })).toBeString()
    }, 300_000)

  test('is not found where there is none', async () => {
    expect(await runSequences({ store, emulator, seed: 7, sequences: 25 })).toBeUndefined()
  }, 600_000)
})
