import { expect, test } from 'bun:test'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { eachDatabase, migratedDatabase } from '../support/database.ts'
import { addWaitingTask, counter, openProcess, ownIdIn } from './fixture.ts'

eachDatabase('three processes at the same time', ({ kind }) => {
  test('create no asset twice, and take no more slots than there are', async () => {
    const slots = 4
    // Full with the slots and the group: one creation too many would be refused.
    const emulator = await startEmulator({ processingMs: 0, quota: slots + 1 })
    const made = await migratedDatabase(kind)
    const stores = [1, 2, 3].map(() => openStore(made.url, { deadlineMs: 60_000 }))
    const processes = stores.map((store) => openProcess(store, emulator, { slots: { slots } }))
    const [first] = processes
    if (!first) throw new Error('there are three')
    const group = await first.group('ann', 'shared')
    const ids: string[] = []
    for (let at = 0; at < 8; at++) {
      ids.push(await first.asset('ann', group, `p${at}`))
      await first.ask('ann', 'GET', `/assets/${ids.at(-1)}`)
      await first.clock.pass(1_000)
    }
    for (const process of processes) await process.clock.pass(10_000)
    const creates = counter(emulator, 'CreateAsset')
    for (const [at, wanted] of [ids.slice(0, 4), ids.slice(4), ids.slice(2, 6)].entries()) {
      const task = `cgt-${at}`
      await addWaitingTask(stores[0] as Store, task, 'ann', wanted)
      const before = creates()
      const present = new Set(emulator.library.assets(group).map(({ name }) => ownIdIn(name)))
      const placed = await Promise.all(processes.map((process) => process.placed(wanted, task)))
      for (const each of placed) expect(each).toEqual(placed[0] as never)
      expect(creates() - before).toBe(wanted.filter((id) => !present.has(id)).length)
      await stores[0]?.cancelWaitingVideoTask('ann', task, 1)
    }
    const refused = emulator.calls.filter(({ action, status }) => action === 'CreateAsset' && status !== 200)
    expect(refused).toEqual([])
    for (const process of processes) expect((await process.list('ann')).toSorted()).toEqual(ids.toSorted())
    await Promise.all(stores.map((store) => store.close()))
    await made.remove()
    await emulator.stop()
  }, 60_000)
})
