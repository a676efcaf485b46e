import { expect, test } from 'bun:test'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { createUpstreamReport } from '../../src/operators/upstreams.ts'
import { openStore } from '../../src/store/index.ts'
import { migratedDatabase, repeatedDatabases } from '../support/database.ts'
import { openProcess } from './fixture.ts'

for (const kind of repeatedDatabases)
  test(`operators see the slots of each account: how many, whose, in use, of persons, waited for, and when one was last taken away (${kind})`, async () => {
    await using emulator = await startEmulator({ processingMs: 0 })
    await using second = await startEmulator({ processingMs: 0, account: 1 })
    const database = await migratedDatabase(kind)
    const store = openStore(database.url, { deadlineMs: 60_000 })
    const accounts = [
      { name: 'a', kind: rest(emulator.rest) },
      { name: 'b', kind: rest(second.rest), slots: 7 },
    ]
    const slotProcess = openProcess(store, emulator, { kind: undefined, accounts, slots: { slots: 4 } })
    const { clock } = slotProcess
    const report = createUpstreamReport({
      config: {
        media: {
          ...{ limits: {}, slots: { slots: 'quota', floor: 0 }, segment: 'media' },
          accounts: [{ name: 'a' }, { name: 'b', slots: 7 }],
        },
        video: {},
      } as unknown as Parameters<typeof createUpstreamReport>[0]['config'],
      ...{ store, clock },
    })
    const calls = ['a', 'b'].map((account) => ({
      ...{ name: `assets ${account}`, family: 'assets' as const, account, state: 'reachable' as const },
      ...{ since: undefined, lastError: undefined, calls: 0, errors: 0 },
    }))
    const slots = async () => (await report(calls)).map(({ asset_slots }) => asset_slots)

    const nothing = { used: 0, persons: 0, pinned: 0, waiting: 0, last_evicted_at: null, users: [] }
    expect(await slots()).toEqual([
      { slots: null, ...nothing },
      { slots: 7, ...nothing },
    ])
    const ann = (await store.addUser({ name: 'ann', createdAt: 1 })) ?? ''
    const { id: face } = emulator.library.addGroup({ name: 'a face', type: 'LivenessFace' })
    await store.adoptGroup({ id: face, user: ann, type: 'LivenessFace', name: 'a face', account: 'a', createdAt: 1 })
    const asked = await slotProcess.ask(ann, 'POST', '/assets', {
      ...{
        GroupId: face,
        GroupType: 'LivenessFace',
        Name: 'f',
        AssetType: 'Image',
        URL: 'https://files.example/f.png',
      },
    })
    expect(asked.status).toBe(200)
    const { id: group } = emulator.library.addGroup({ name: 'things' })
    await store.adoptGroup({ id: group, user: ann, type: 'AIGC', name: 'things', account: 'a', createdAt: 1 })
    const ids: string[] = []
    // The first one is the least recently used.
    for (const name of ['x', 'y', 'z']) {
      const id = await slotProcess.asset(ann, group, name)
      ids.push(id)
      await slotProcess.ask(ann, 'GET', `/assets/${id}`)
      await clock.pass(1_000)
    }
    const [x = '', y = '', z = ''] = ids
    await store.noteSlotLimit({ key: '', name: 'a' }, 5)
    await store.noteSlotLimit({ key: '', name: 'a' }, 4)
    expect((await slots())[0]).toEqual({
      ...{ slots: 4, used: 4, persons: 1, pinned: 0, waiting: 0, last_evicted_at: null },
      users: [{ user: ann, user_name: 'ann', used: 4, persons: 1 }],
    })

    // A request uses one, and a user of a host app needs another slot.
    const now = clock.now()
    const lease = { now, waitUntil: now + 60_000, leaseUntil: now + 60_000 }
    expect((await store.beginAssetUse({ id: 'use-1', user: ann, assets: [z], ...lease })).isHeld).toBe(true)
    const { id: others } = emulator.library.addGroup({ name: 'others' })
    await store.adoptGroup({ id: others, user: 'guest', type: 'AIGC', name: 'others', account: 'a', createdAt: 1 })
    const fourth = await slotProcess.asset('guest', others, 'w')
    await slotProcess.ask('guest', 'GET', `/assets/${fourth}`)
    const [first, other] = await slots()
    expect(first).toEqual({
      ...{ slots: 4, used: 4, persons: 1, pinned: 1, waiting: 0 },
      last_evicted_at: new Date(now).toISOString(),
      users: [
        { user: ann, user_name: 'ann', used: 3, persons: 1 },
        { user: 'guest', user_name: null, used: 1, persons: 0 },
      ],
    })
    // Another account has its own, and its own number counts before any quota.
    expect(other).toEqual({ slots: 7, ...nothing })

    // All that is left is in use: another request waits.
    for (const [id, asset, user] of [
      ['use-2', y, ann],
      ['use-3', fourth, 'guest'],
    ] as const)
      expect((await store.beginAssetUse({ id, user, assets: [asset], ...lease })).isHeld).toBe(true)
    expect((await store.beginAssetUse({ id: 'use-4', user: ann, assets: [x], ...lease })).isHeld).toBe(false)
    const claim = { account: { key: '', name: 'a' }, slots: 4, floor: 0, cap: 9, now, leaseUntil: now + 60_000 }
    const need = { id: 'use-4', user: ann, waitUntil: now + 60_000 }
    expect((await store.claimSlot({ id: x, need, ...claim })).outcome).toBe('full')
    expect((await slots())[0]).toMatchObject({ used: 4, pinned: 3, waiting: 1 })
    await store.close()
    await database.remove()
  })
