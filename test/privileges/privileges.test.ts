import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Emulator } from '../../src/emulator/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { runSequences } from './run.ts'
import { openEmulator } from './world.ts'

/** The seed is fixed: only a change of the code can make the test fail. */
const seed = 20_261_126

repeatOnDatabases('roles, scopes and owners', (tested) => {
  let store: Store
  let emulator: Emulator
  beforeAll(async () => {
    store = await tested.open()
    emulator = await openEmulator()
  })
  afterAll(() => emulator.stop())

  test('let nobody see or change what the model forbids, in random sequences on two processes', async () => {
    expect(await runSequences({ store, emulator, seed, sequences: 5 })).toBeUndefined()
  }, 300_000)
})
