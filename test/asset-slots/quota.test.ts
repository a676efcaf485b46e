import { expect, test } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { ark } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { migratedDatabase, repeatOnDatabases } from '../support/database.ts'
import { sleepOn, VirtualClock } from '../support/virtual-clock.ts'
import { counter, openProcess, type SlotProcess } from './fixture.ts'

interface Opened extends AsyncDisposable {
  readonly emulator: Emulator
  readonly process: SlotProcess
  /** Another process on the same store. */
  readonly other: SlotProcess
  /** What has become of slots in `process`. */
  readonly changes: readonly string[]
  /** Adds assets, which all become active. */
  add(group: string, count: number): Promise<readonly string[]>
}

repeatOnDatabases('with as many slots as GetAssetQuota says', ({ kind }) => {
  const open = async (options: EmulatorOptions): Promise<Opened> => {
    const clock = new VirtualClock(1, Date.now())
    const emulator = await startEmulator({ processingMs: 0, clock: clock.now, ...options })
    const made = await migratedDatabase(kind)
    const store = openStore(made.url, { deadlineMs: 60_000 })
    const upstream = ark({ ...emulator.ark, clock })
    const changes: string[] = []
    const observeChange = (change: string) => changes.push(change)
    const process = openProcess(store, emulator, { clock, kind: upstream, slots: { slots: 'quota', observeChange } })
    const other = openProcess(store, emulator, { clock, kind: upstream, slots: { slots: 'quota' } })
    return {
      ...{ emulator, process, other, changes },
      async add(group, count) {
        const ids: string[] = []
        for (let at = 0; at < count; at++) {
          const id = await process.asset('ann', group, `a${at}`)
          ids.push(id)
          if ((await process.ask('ann', 'GET', `/assets/${id}`)).json.Result.Status !== 'Active')
            await process.placed([id], 'task')
          await clock.pass(1_000)
        }
        return ids
      },
      async [Symbol.asyncDispose]() {
        await store.close()
        await made.remove()
        await emulator.stop()
      },
    }
  }

  const refusals = ({ calls }: Emulator): number =>
    calls.filter(({ action, status }) => action === 'CreateAsset' && status === 403).length

  test('a library has more assets than the account, and asks for the quota once in ten minutes', async () => {
    await using opened = await open({ quota: 6 })
    const { emulator, process, add } = opened
    const asked = counter(emulator, 'GetAssetQuota')
    const group = await process.group('ann', 'many')
    const ids = await add(group, 12)
    // The vendor counts the group too: one refusal has told that.
    expect([emulator.library.assets().length, asked(), refusals(emulator)]).toEqual([5, 1, 1])
    for (const id of ids) await process.placed([id], 'task')
    expect([asked(), refusals(emulator)]).toEqual([1, 1])
    expect((await process.list('ann')).toSorted()).toEqual(ids.toSorted())
    await process.clock.pass(601_000)
    for (const id of ids) await process.placed([id], 'task')
    expect([emulator.library.assets().length, asked(), refusals(emulator)]).toEqual([5, 2, 2])
  })

  test('what a refusal has told holds until any process has made room; a deletion is no eviction', async () => {
    await using opened = await open({ quota: 6 })
    const { emulator, process, other, changes, add } = opened
    const [group, empty] = [await process.group('ann', 'many'), await process.group('ann', 'empty')]
    const [first = ''] = await add(group, 6)
    const assets = () => emulator.library.assets().length
    // The vendor counts both groups.
    expect([assets(), refusals(emulator)]).toEqual([4, 1])
    expect((await other.ask('ann', 'DELETE', `/assets/groups/${empty}`)).status).toBe(200)
    await process.placed([first], 'task')
    expect([assets(), refusals(emulator)]).toEqual([5, 1])
    const evicted = changes.filter((change) => change === 'evicted').length
    expect((await process.ask('ann', 'DELETE', `/assets/${first}`)).status).toBe(200)
    expect([assets(), changes.filter((change) => change === 'evicted').length]).toEqual([4, evicted])
  })

  test('a lower quota takes slots away', async () => {
    await using opened = await open({ quota: 9 })
    const { emulator, process, add } = opened
    const ids = await add(await process.group('ann', 'lower'), 8)
    expect(emulator.library.assets()).toHaveLength(8)
    const body = JSON.stringify({ ResponseMetadata: { RequestId: 'r' }, Result: { max_assets: 5 } })
    emulator.faults.add({ kind: 'status', status: 200, body, action: 'GetAssetQuota' })
    await process.clock.pass(601_000)
    const [first = ''] = await add((await process.ask('ann', 'GET', '/assets/groups')).json.Result.Items[0].Id, 1)
    expect(emulator.library.assets()).toHaveLength(5)
    expect((await process.list('ann')).toSorted()).toEqual([...ids, first].toSorted())
  })

  test('operators see the number through any process, whichever has asked for it', async () => {
    await using emulator = await startEmulator({ processingMs: 0, quota: 6 })
    const made = await migratedDatabase(kind)
    const [store, other] = [openStore(made.url, { deadlineMs: 60_000 }), openStore(made.url, { deadlineMs: 60_000 })]
    const clock = new VirtualClock(1, Date.now())
    const background = new Background({ sleep: sleepOn(clock) })
    const noted = Promise.withResolvers<void>()
    const counting = openProcess(
      {
        ...store,
        async noteSlotLimit(account, slots) {
          await store.noteSlotLimit(account, slots)
          noted.resolve()
        },
      },
      emulator,
      { clock, background, kind: ark({ ...emulator.ark, clock }), slots: { slots: 'quota', observeCounts: () => {} } },
    )
    await noted.promise
    expect((await other.assetSlotUse({ key: '', name: '' }, counting.clock.now())).limit).toBe(6)
    await background.stop()
    await Promise.all([store.close(), other.close()])
    await made.remove()
  })

  for (const [name, fault] of [
    ['cannot be read', { kind: 'status', status: 500 }],
    ['has no number', { kind: 'status', status: 200, body: '{"ResponseMetadata":{},"Result":{"max_assets":"many"}}' }],
  ] as const) {
    test(`a quota that ${name} leaves it to the refusals of the account`, async () => {
      await using opened = await open({ quota: 4 })
      const { emulator, process, add } = opened
      emulator.faults.add({ ...fault, action: 'GetAssetQuota', times: Number.POSITIVE_INFINITY })
      const ids = await add(await process.group('ann', 'unknown'), 6)
      for (const id of ids) await process.placed([id], 'task')
      expect([emulator.library.assets().length, refusals(emulator)]).toEqual([3, 1])
    })
  }
})
