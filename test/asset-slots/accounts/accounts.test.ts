import { expect, test } from 'bun:test'
import { Background } from '../../../plugins/shared/background/background.ts'
import { ark } from '../../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../../src/emulator/index.ts'
import { repeatOnDatabases } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { sleepOn } from '../../support/virtual-clock.ts'
import { addWaitingTask, counter, ownIdIn } from '../fixture.ts'
import { callNumber, completeStream } from '../text-fixture.ts'
import { names, twoAccounts } from './fixture.ts'

const timeoutMs = 60_000

repeatOnDatabases('several accounts with slots', ({ kind }) => {
  const suite = twoAccounts(kind)
  const { emulator, open, present } = suite

  test(
    'each have their own: an asset leaves, and comes back to, the account of its group',
    async () => {
      const changes: string[] = []
      await using process = await open(
        { a: 2, b: 3 },
        { slots: { observeChange: (change, account) => changes.push(`${account} ${change}`) } },
      )
      const ids = {
        a: await process.added('ann', await process.groupOn('a', 'ann'), 5),
        b: await process.added('ann', await process.groupOn('b', 'ann'), 5),
      }
      // The last ones have taken the places of the first ones, on their own accounts.
      expect(present('a')).toEqual(ids.a.slice(3).toSorted())
      expect(present('b')).toEqual(ids.b.slice(2).toSorted())
      const deletions = names.map((name) => counter(emulator(name), 'DeleteAsset'))
      for (const [index, name] of names.entries()) {
        const before = deletions.map((count) => count())
        for (const id of ids[name]) {
          const placed = await process.placed([id], `task of ${id}`)
          expect(emulator(name).library.asset(placed.get(id) ?? '')).toBeDefined()
          await process.clock.pass(1_000)
        }
        const made = deletions.map((count, at) => count() - (before[at] ?? 0))
        expect(made[index]).toBeGreaterThan(1)
        expect(made[1 - index]).toBe(0)
      }
      expect([present('a').length, present('b').length]).toEqual([2, 3])
      expect((await process.list('ann')).toSorted()).toEqual([...ids.a, ...ids.b].toSorted())
      expect(changes.filter((change) => change === 'a created')).toHaveLength(5)
      expect(changes.filter((change) => change === 'b created')).toHaveLength(5)
      for (const name of names)
        expect(changes.filter((change) => change === `${name} recreated`).length).toBeGreaterThan(1)
    },
    timeoutMs,
  )

  test(
    'count the floor and the cap of a user on each account',
    async () => {
      await using process = await open({ a: 3, b: 3 }, { slots: { floor: 1, cap: 2 } })
      for (const name of names) {
        const ann = await process.added('ann', await process.groupOn(name, 'ann'), 3)
        expect(present(name)).toEqual(ann.slice(1).toSorted())
        const bob = await process.added('bob', await process.groupOn(name, 'bob'), 2)
        // One of ann's, who is above the floor here.
        expect(present(name)).toEqual([...ann.slice(2), ...bob].toSorted())
        const tooMany = await process.assets.requirePlaceable?.(ann).catch((error: unknown) => error)
        expect(tooMany).toMatchObject({ status: 429, code: 'QuotaExceeded' })
      }
    },
    timeoutMs,
  )

  test(
    'tell their counts apart, and whether something waits',
    async () => {
      const counts = new Map<string | undefined, object>()
      await using process = await open(
        { a: 1, b: 2 },
        { slots: { observeCounts: ({ account, ...rest }) => counts.set(account, rest) } },
      )
      const ids = await process.added('ann', await process.groupOn('b', 'ann'), 3)
      const [first = '', second = '', third = ''] = ids
      await process.added('ann', await process.groupOn('a', 'ann'), 1)
      await addWaitingTask(process.store, 'cgt-1', 'ann', [first, second])
      await addWaitingTask(process.store, 'cgt-2', 'ann', [third])
      await process.placed([first, second], 'cgt-1')
      expect(await process.assets.place?.([third], 'cgt-2')).toBeUndefined()
      const background = new Background({ sleep: sleepOn(process.clock) })
      process.other({ clock: process.clock, background })
      await until(async () => {
        await process.clock.pass(100)
        return counts.size === 2
      })
      await background.stop()
      expect(counts.get('a')).toEqual({ used: 1, waiting: 0, limit: 1 })
      expect(counts.get('b')).toEqual({ used: 2, waiting: 1, limit: 2 })
    },
    timeoutMs,
  )

  test(
    'a text request uses assets of the first account, and waits for no slot of another one',
    async () => {
      await using process = await open({ a: 1, b: 1 })
      const [first = '', second = ''] = await process.added('ann', await process.groupOn('a', 'ann'), 2)
      const [other = '', another = ''] = await process.added('bob', await process.groupOn('b', 'bob'), 2)
      const refused = await process.chat('bob', [other])
      expect(refused.status).toBe(403)
      expect(await refused.text()).toContain('account b')
      // A task of bob, who uses nothing, waits for the slot of the other account.
      await addWaitingTask(process.store, 'cgt-1', 'bob', [other])
      await process.placed([other], 'cgt-1')
      await addWaitingTask(process.store, 'cgt-2', 'bob', [another])
      expect(await process.assets.place?.([another], 'cgt-2')).toBeUndefined()
      for (const [index, id] of [first, second].entries()) {
        let isOver = false
        const responding = process.chat('ann', [id])
        void responding.then(() => {
          isOver = true
        })
        // The task goes on waiting.
        await until(async () => {
          if (isOver || process.calls.length > index) return true
          await process.assets.place?.([another], 'cgt-2')
          await process.clock.pass(100)
          return false
        })
        const call = await callNumber(process, index + 1)
        expect(call.assets.map((asset) => ownIdIn(emulator('a').library.asset(asset)?.name ?? ''))).toEqual([id])
        call.answer(completeStream())
        await (await responding).text()
      }
    },
    timeoutMs,
  )

  test(
    'take over what they had before, each its own, also under ids of the upstream that both have',
    async () => {
      await using process = await open({ a: 3, b: 3 })
      const groups = [await process.groupOn('a', 'ann'), await process.groupOn('b', 'ann')]
      const known = names.map((name, index) => emulator(name).library.addAsset({ groupId: groups[index] ?? '' }).id)
      expect((await process.list('ann')).toSorted()).toEqual(known.toSorted())
      const records = await process.store.slottedAssets(known)
      expect(new Map(records.map(({ id, account }) => [id, account]))).toEqual(
        new Map([
          [known[0] ?? '', ''],
          [known[1] ?? '', 'b'],
        ]),
      )
      const added = { user: 'ann', name: 'x', createdAt: 1, body: '{}', original: undefined }
      for (const account of ['', 'b']) {
        const id = `asset-of-${account}`
        await process.store.addSlottedAsset({ ...added, id, group: groups[0] ?? '', account })
        const key = { key: account, name: account || 'a' }
        const lease = { now: 2, leaseUntil: 3 }
        const claimed = await process.store.claimSlot({ id, account: key, slots: 9, floor: 0, cap: 9, ...lease })
        if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome)
        expect(await process.store.confirmCreated(claimed.asset, 'the same id', 4)).toBe(true)
        expect(await process.store.isHiddenId('the same id', key)).toBe(true)
      }
      // Nor does one account create what is of another one.
      await process.store.addSlottedAsset({ ...added, id: 'of-b', group: groups[1] ?? '', account: 'b' })
      expect(
        await process.store.claimSlot({
          ...{ id: 'of-b', account: { key: '', name: 'a' }, slots: 9, floor: 0, cap: 9, now: 2, leaseUntil: 3 },
        }),
      ).toEqual({ outcome: 'other' })
    },
    timeoutMs,
  )

  test(
    'get new groups where the fewest assets share a slot, and are never full',
    async () => {
      await using process = await open({ a: 1, b: 10 })
      const { store } = process
      const groups = { a: await process.groupOn('a', 'ann'), b: await process.groupOn('b', 'ann') }
      const record = async (account: 'a' | 'b', count: number) => {
        for (let at = 0; at < count; at++) await store.recordAsset(`asset-${crypto.randomUUID()}`, groups[account])
        // For a while a process knows how many there are.
        await process.clock.pass(6_000)
      }
      await record('a', 2)
      await record('b', 15)
      // Groups and assets are three times the slots of a, and 1.6 times those of b.
      expect((await store.group(await process.group('bob', 'new')))?.account).toBe('b')
      await record('b', 15)
      expect((await store.group(await process.group('cat', 'new')))?.account).toBe('a')
    },
    timeoutMs,
  )

  test(
    'count slots of persons, and the floors that these leave, on the account of the person',
    async () => {
      await using process = await open({ a: 4, b: 4 }, { slots: { floor: 1 } })
      const { store } = process
      for (const user of ['ann', 'bob', 'cat']) await process.groupOn('a', user)
      const faces = new Map<string, string>()
      for (const account of names) {
        const { id } = emulator(account).library.addGroup({ name: `face on ${account}`, type: 'LivenessFace' })
        const face = { id, user: 'eve', type: 'LivenessFace', name: `face on ${account}`, account, createdAt: 1 }
        await store.adoptGroup(face)
        faces.set(account, id)
      }
      const fill = async (account: string): Promise<number> => {
        for (let count = 0; ; count++) {
          const { status } = await process.ask('eve', 'POST', '/assets', {
            ...{ GroupId: faces.get(account), GroupType: 'LivenessFace', Name: `${account}${count}` },
            ...{ URL: 'https://files.example/x.png', AssetType: 'Image' },
          })
          if (status !== 200) return count
        }
      }
      // Of a, three other users and one to come have their floors.
      expect([await fill('b'), await fill('a')]).toEqual([3, 1])
      expect(names.map((name) => emulator(name).library.assets().length)).toEqual([1, 3])
      expect(await store.personSlots({ key: '', name: 'a' }, 0)).toEqual(new Map([['eve', 1]]))
      expect(await store.personSlots({ key: 'b', name: 'b' }, 0)).toEqual(new Map([['eve', 3]]))
    },
    timeoutMs,
  )

  test(
    'have as many as their own GetAssetQuota says',
    async () => {
      await using one = await startEmulator({ processingMs: 0, account: 2, quota: 4 })
      await using two = await startEmulator({ processingMs: 0, account: 3, quota: 6 })
      await using opened = await open({ a: 1, b: 1 })
      const process = opened.other({
        accounts: [
          { name: 'a', kind: ark({ ...one.ark, clock: opened.clock }) },
          { name: 'b', kind: ark({ ...two.ark, clock: opened.clock }) },
        ],
        ...{ clock: opened.clock, slots: { slots: 'quota' } },
      })
      for (const [account, each] of [
        ['a', one],
        ['b', two],
      ] as const) {
        const { id } = each.library.addGroup({ name: account, project: each.ark.project })
        await opened.store.adoptGroup({ id, user: 'ann', type: 'AIGC', name: account, account, createdAt: 1 })
        const ids = await process.added('ann', id, 8)
        for (const asset of ids) await process.placed([asset], `task of ${asset}`)
      }
      // The vendor counts the group too.
      expect([one.library.assets().length, two.library.assets().length]).toEqual([3, 5])
      expect([one, two].map(({ calls }) => calls.filter(({ action }) => action === 'GetAssetQuota').length)).toEqual([
        1, 1,
      ])
    },
    timeoutMs,
  )
})
