import { expect, test } from 'bun:test'
import { openStore } from '../../../src/store/index.ts'
import { simulate } from './simulation.ts'

test('no limit is ever exceeded', async () => {
  for (const seed of [1, 2, 3, 4]) {
    const store = openStore('sqlite::memory:')
    await store.migrate()
    const result = await simulate({ seed, stores: [store.limits, store.limits], steps: 400 })
    console.log(result)
    expect(result.violations).toEqual([])
    await store.close()
  }
}, 120_000)
