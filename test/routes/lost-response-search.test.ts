import { describe, expect, test } from 'bun:test'
import { reconcileOptionsOf } from '../../plugins/asset-library/routes/reconcile.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { createUpstream } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { eachKind } from './fixture.ts'

const hour = 3_600_000

describe.each(eachKind)('with an upstream of kind $kind, the search for a lost group', ({ kindOf }) => {
  test('takes one call in an account with thousands of older groups with similar names', async () => {
    await using emulator = await startEmulator()
    const now = emulator.library.now()
    for (let nth = 0; nth < 2_500; nth++) {
      const createTime = now - hour - nth * 1_000
      emulator.library.addGroup({ name: nth % 7 ? `cats ${nth}` : 'cats', createTime })
    }
    const made = emulator.library.addGroup({ name: 'cats' }).id
    const store = openStore('sqlite::memory:')
    const { find } = reconcileOptionsOf(
      { upstream: createUpstream({ kind: kindOf(emulator) }), claimMs: 60_000, clock: systemClock },
      store,
    )
    emulator.clearCalls()
    const found = await find('AIGC', 'cats', { by: 'CreateTime', time: now - 300_000 })
    expect(found.map(({ id }) => id)).toContain(made)
    expect(emulator.calls).toHaveLength(1)

    const [renamed] = emulator.library.groups()
    if (!renamed) throw new Error('there are no groups')
    emulator.library.changeGroup(renamed.id, { name: 'dogs of cats' })
    emulator.clearCalls()
    const changed = await find('AIGC', 'dogs of cats', { by: 'UpdateTime', time: now - 300_000 })
    expect(changed.map(({ id }) => id)).toEqual([renamed.id])
    expect(emulator.calls).toHaveLength(1)
    await store.close()
  })
})
