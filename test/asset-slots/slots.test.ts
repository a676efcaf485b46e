import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatOnDatabases } from '../support/database.ts'
import { addWaitingTask, counter, openProcess, type SlotProcess } from './fixture.ts'

repeatOnDatabases('a library that is larger than its slots', ({ kind }) => {
  // One for all tests: another one would give the same ids.
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
  })
  afterAll(() => emulator.stop())
  const upstreamAssets = () => emulator.library.assets().map(({ id }) => id)
  /** A database of its own for each test: assets that others have left would have slots. */
  const open = async (): Promise<{ readonly store: Store } & AsyncDisposable> => {
    for (const { id } of emulator.library.groups()) emulator.library.deleteGroup(id)
    const made = await migratedDatabase(kind)
    const store = openStore(made.url, { deadlineMs: 60_000 })
    return {
      store,
      async [Symbol.asyncDispose]() {
        await store.close()
        await made.remove()
      },
    }
  }

  test('lists all assets exactly, with ids that the upstream does not have', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator)
    const group = await process.group('ann', 'many')
    const ids: string[] = []
    for (let at = 0; at < 16; at++) {
      ids.push(await process.asset('ann', group, `a${at % 3}-${at}`))
      await process.clock.pass(700)
    }
    expect(upstreamAssets()).toHaveLength(5)
    expect(await process.list('ann', '&SortOrder=Asc')).toEqual(
      // Two assets may have one time: those are in the order of their ids.
      await sortedAs(process, ids),
    )
    expect((await process.list('ann', '&SortBy=UpdateTime')).toSorted()).toEqual(ids.toSorted())
    expect(await process.list('ann', '&Name=a1-4')).toEqual([ids[4] ?? ''])
    expect(await process.list('bob')).toEqual([])
    const { json } = await process.ask('ann', 'GET', `/assets/${ids[0]}`)
    expect(json.Result).toMatchObject({
      Id: ids[0],
      Name: 'a0-0',
      GroupId: group,
      Status: 'Active',
      AssetType: 'Image',
    })
    expect(json.Result.URL).toStartWith('https://files.example/originals/')
    const everything = JSON.stringify([json, await process.ask('ann', 'GET', '/assets?PageSize=100')])
    for (const id of upstreamAssets()) expect(everything).not.toContain(id)
  })

  test('makes room once for an asset that two attempts create', async () => {
    await using opened = await open()
    const { store } = opened
    const deletions: (() => void)[] = []
    const begun = Promise.withResolvers<void>()
    const slowDeletions = async (url: string, init: RequestInit): Promise<Response> => {
      if (init.method === 'DELETE')
        await new Promise<void>((goOn) => {
          deletions.push(goOn)
          begun.resolve()
        })
      return fetch(url, init)
    }
    const process = openProcess(store, emulator, { slots: { slots: 2 }, fetch: slowDeletions as typeof fetch })
    const group = await process.group('ann', 'two attempts')
    const others: string[] = []
    for (const name of ['one', 'two']) {
      const asset = await process.asset('ann', group, name)
      // What was not seen to be active keeps its slot.
      expect((await process.ask('ann', 'GET', `/assets/${asset}`)).json.Result.Status).toBe('Active')
      others.push(asset)
    }
    const creating = process.asset('ann', group, 'three')
    await begun.promise
    const id = (await process.list('ann')).find((one) => !others.includes(one)) ?? ''
    await addWaitingTask(store, 'task-of-three', 'ann', [id])
    expect(await process.assets.place?.([id], 'task-of-three')).toBeUndefined()
    expect(deletions).toHaveLength(1)
    deletions[0]?.()
    expect(await creating).toBe(id)
    expect(upstreamAssets()).toHaveLength(2)
  })

  test('has the same answer for the ids of the upstream, of other users, and of nobody', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator)
    const group = await process.group('ann', 'hidden')
    const own = await process.asset('ann', group, 'x')
    const [hidden = ''] = emulator.library.assets(group).map(({ id }) => id)
    expect(hidden).not.toBe(own)
    const answers = await Promise.all(
      [hidden, 'asset-20200101000000-aaaaa'].flatMap((id) =>
        ['GET', 'DELETE'].map(async (method) => (await process.ask('ann', method, `/assets/${id}`)).text),
      ),
    )
    const foreign = await Promise.all(
      ['GET', 'DELETE'].map(async (method) => (await process.ask('bob', method, `/assets/${own}`)).text),
    )
    expect(new Set([...answers, ...foreign]).size).toBe(1)
    expect(await process.list('ann', `&GroupIds=${group}`)).toEqual([own])
  })

  test('creates the least recently used asset again when a task needs it', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator, { slots: { slots: 3 } })
    const group = await process.group('cyd', 'lru')
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      ids.push(await process.asset('cyd', group, name))
      await process.ask('cyd', 'GET', `/assets/${ids.at(-1)}`)
      await process.clock.pass(1_000)
    }
    const [a = '', b = '', c = '', d = ''] = ids
    const creates = counter(emulator, 'CreateAsset')
    const placed = await process.placed([b, c, d], 'task-1')
    expect(creates()).toBe(0)
    expect([...placed.keys()]).toEqual([b, c, d])
    expect(new Set(placed.values())).toEqual(new Set(upstreamAssets()))
    await process.clock.pass(1_000)
    await process.placed([c, d], 'task-2')
    await process.clock.pass(1_000)
    await process.placed([a], 'task-3')
    expect(creates()).toBe(1)
    await process.placed([c, d], 'task-4')
    expect(creates()).toBe(1)
    expect(await process.list('cyd')).toHaveLength(4)
  })

  test('keeps what running tasks use, and what older waiting tasks need', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator, { slots: { slots: 2 } })
    const group = await process.group('dan', 'pins')
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      ids.push(await process.asset('dan', group, name))
      await process.ask('dan', 'GET', `/assets/${ids.at(-1)}`)
      await process.clock.pass(1_000)
    }
    const [a = '', b = '', c = ''] = ids
    const tasks = ['cgt-1', 'cgt-2', 'cgt-3'] as const
    await addWaitingTask(store, tasks[0], 'dan', [a])
    await addWaitingTask(store, tasks[1], 'dan', [b])
    await process.placed([a], tasks[0])
    await process.placed([b], tasks[1])
    await addWaitingTask(store, tasks[2], 'dan', [c])
    // Both slots are those of older tasks.
    expect(await process.assets.place?.([c], tasks[2])).toBeUndefined()
    expect(await process.assets.place?.([a, b], tasks[0])).toBeDefined()
    // The older task takes the slot of what is needed last.
    const running = { running: 5, waitingPerUser: 10, waitingBytesPerUser: 2 ** 40 }
    const claim = await store.claimVideoTask('seedance', running, 1, 2 ** 45)
    expect(claim?.id).toBe(tasks[0])
    await store.cancelWaitingVideoTask('dan', tasks[1], 1)
    expect((await process.placed([c], tasks[2])).size).toBe(1)
    // What the running task uses has stayed.
    expect((await process.placed([a], tasks[0])).size).toBe(1)
    expect(await process.assets.place?.([b], 'cgt-4')).toBeUndefined()
  })

  /** Adds assets of a user in a new group. Resolves with their ids, and with how many of them the upstream has. */
  const addMany = async (process: SlotProcess, user: string, count: number) => {
    const group = await process.group(user, 'floor and cap')
    const ids: string[] = []
    for (let at = 0; at < count; at++) {
      ids.push(await process.asset(user, group, `${user}${at}`))
      await process.ask(user, 'GET', `/assets/${ids.at(-1)}`)
      await process.clock.pass(1_000)
    }
    return { ids, held: () => emulator.library.assets(group).length }
  }

  test('leaves each user a floor', async () => {
    await using opened = await open()
    const process = openProcess(opened.store, emulator, { slots: { slots: 6, floor: 2 } })
    const fays = await addMany(process, 'fay', 3)
    const eves = await addMany(process, 'eve', 9)
    expect([eves.held(), fays.held()]).toEqual([4, 2])
    const creates = counter(emulator, 'CreateAsset')
    await process.placed(fays.ids.slice(-2), 'x')
    expect(creates()).toBe(0)
    // Who is below the floor takes a slot of others, and who is above it does not get that one back.
    const gails = await addMany(process, 'gail', 3)
    expect([eves.held(), fays.held(), gails.held()]).toEqual([2, 2, 2])
  }, 60_000)

  test('takes from the floor of another user for a task that would wait for nothing else', async () => {
    await using opened = await open()
    const process = openProcess(opened.store, emulator, { slots: { slots: 6, floor: 2 } })
    const fays = await addMany(process, 'fay', 2)
    const eves = await addMany(process, 'eve', 6)
    const five = eves.ids.slice(0, 5)
    await addWaitingTask(opened.store, 'cgt-1', 'eve', five)
    // As long as another request uses a slot of its user, the task waits for that.
    const [, , , , , other = ''] = eves.ids
    const request = { user: 'eve', assets: [{ id: other, param: 'x' }], signal: new AbortController().signal }
    const used = await process.texts.hold?.(request)
    for (let tries = 0; tries < 5; tries++) expect(await process.assets.place?.(five, 'cgt-1')).toBeUndefined()
    expect([eves.held(), fays.held()]).toEqual([4, 2])
    used?.end()
    await process.placed(five, 'cgt-1')
    expect([eves.held(), fays.held()]).toEqual([5, 1])
  }, 60_000)

  test('gives nobody more slots than the cap, also while some are free', async () => {
    await using opened = await open()
    const process = openProcess(opened.store, emulator, { slots: { slots: 9, cap: 3 } })
    const eves = await addMany(process, 'eve', 5)
    const fays = await addMany(process, 'fay', 2)
    expect([eves.held(), fays.held()]).toEqual([3, 2])
    await process.placed([eves.ids[0] ?? ''], 'x')
    expect([eves.held(), fays.held()]).toEqual([3, 2])
    const tooMany = await process.assets.place?.(eves.ids, 'x').catch((error: unknown) => error)
    expect(tooMany).toMatchObject({ status: 429, code: 'QuotaExceeded' })
  }, 60_000)

  test('lets no refusal for a full account reach a user, also not for a group', async () => {
    const full = await startEmulator({ processingMs: 0, quota: 6 })
    try {
      // More slots than the account has: it counts groups too.
      await using opened = await open()
      const { store } = opened
      const process = openProcess(store, full, { slots: { slots: 6 } })
      const groups = [await process.group('gus', 'one'), await process.group('gus', 'two')]
      const ids: string[] = []
      for (let at = 0; at < 10; at++) {
        ids.push(await process.asset('gus', groups[at % 2] ?? '', `q${at}`))
        await process.ask('gus', 'GET', `/assets/${ids.at(-1)}`)
        await process.clock.pass(1_000)
      }
      groups.push(await process.group('gus', 'three'))
      full.faults.add({
        ...{ kind: 'status', status: 429, action: 'CreateAsset' },
        body: JSON.stringify({ ResponseMetadata: { Error: { Code: 'QuotaSharedPoolExceeded', Message: 'full' } } }),
      })
      ids.push(await process.asset('gus', groups[2] ?? '', 'last'))
      expect((await process.list('gus')).toSorted()).toEqual(ids.toSorted())
      for (const id of ids) await process.placed([id], 'task')
      expect(full.library.assets().length + 3).toBeLessThanOrEqual(6)
    } finally {
      await full.stop()
    }
  })

  test.each(['the same', 'another'])(
    'uses the room of what is deleted through %s process at once, also after refusals',
    async (which) => {
      const full = await startEmulator({ processingMs: 0, quota: 4 })
      try {
        await using opened = await open()
        const process = openProcess(opened.store, full, { slots: { slots: 4 } })
        const deleting = which === 'another' ? openProcess(opened.store, full, { slots: { slots: 4 } }) : process
        const group = await process.group('ivy', 'one')
        const ids = [await process.asset('ivy', group, 'a'), await process.asset('ivy', group, 'b')]
        for (const id of ids) await process.ask('ivy', 'GET', `/assets/${id}`)
        const others: string[] = []
        for (const name of ['two', 'three']) others.push(await process.group('jon', name))
        // Three groups, and room for one asset.
        for (let tries = 0; tries < 5; tries++) expect(await process.assets.place?.(ids, 'task')).toBeUndefined()
        for (const other of others) {
          expect((await deleting.ask('jon', 'DELETE', `/assets/groups/${other}`)).status).toBe(200)
        }
        await process.placed(ids, 'task')
        expect(full.library.assets()).toHaveLength(2)
      } finally {
        await full.stop()
      }
    },
  )

  test('renames and deletes for good', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator, { slots: { slots: 2 } })
    const group = await process.group('hal', 'changes')
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      ids.push(await process.asset('hal', group, name))
      await process.ask('hal', 'GET', `/assets/${ids.at(-1)}`)
    }
    const [a = '', b = '', c = ''] = ids
    for (const id of [a, c]) {
      expect((await process.ask('hal', 'PUT', `/assets/${id}`, { Name: `new ${id}` })).status).toBe(200)
      expect((await process.ask('hal', 'GET', `/assets/${id}`)).json.Result.Name).toBe(`new ${id}`)
      await process.placed([id], 't')
      expect((await process.ask('hal', 'GET', `/assets/${id}`)).json.Result.Name).toBe(`new ${id}`)
    }
    for (const id of [a, b]) {
      expect((await process.ask('hal', 'DELETE', `/assets/${id}`)).status).toBe(200)
      expect((await process.ask('hal', 'GET', `/assets/${id}`)).status).toBe(404)
    }
    expect(await process.list('hal')).toEqual([c])
    expect(emulator.library.assets(group)).toHaveLength(1)
    expect((await process.ask('hal', 'DELETE', `/assets/groups/${group}`)).status).toBe(200)
    expect((await process.ask('hal', 'GET', `/assets/${c}`)).status).toBe(403)
  })

  test('rejects what the upstream rejects, and keeps nothing of it', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator)
    const group = await process.group('ida', 'rejected')
    const body = JSON.stringify({
      ResponseMetadata: { Error: { Code: 'InvalidParameter.WidthTooSmall', Message: 'x' } },
    })
    emulator.faults.add({ kind: 'status', status: 400, body, action: 'CreateAsset' })
    const wanted = { GroupId: group, URL: 'https://files.example/a.png', AssetType: 'Image' }
    expect(await process.ask('ida', 'POST', '/assets', wanted)).toMatchObject({ status: 400, text: body })
    for (const more of [{ Name: 'x'.repeat(65) }, { Note: 'x'.repeat(17_000) }, { URL: 7 }, { AssetType: 'Text' }])
      expect(await process.ask('ida', 'POST', '/assets', { ...wanted, ...more })).toMatchObject({ status: 400 })
    expect(await process.list('ida')).toEqual([])
    expect(emulator.library.assets(group)).toEqual([])
  })

  test('adopts the assets that were there before, under their ids', async () => {
    await using opened = await open()
    const { store } = opened
    const before = openProcess(store, emulator, { slots: { slots: 100 } })
    const group = await before.group('jon', 'old')
    const old = Array.from({ length: 3 }, (_, at) => emulator.library.addAsset({ groupId: group, name: `o${at}` }).id)
    const process = openProcess(store, emulator, { slots: { slots: 4 } })
    expect((await process.list('jon')).toSorted()).toEqual(old.toSorted())
    const added = [await process.asset('jon', group, 'n0'), await process.asset('jon', group, 'n1')]
    expect((await process.list('jon')).toSorted()).toEqual([...old, ...added].toSorted())
    // They have no originals, and keep their slots.
    for (const id of old) expect(emulator.library.asset(id)).toBeDefined()
    expect((await process.ask('jon', 'GET', `/assets/${old[0]}`)).json.Result.Id).toBe(old[0])
  })

  test('leaves the assets of persons where they are', async () => {
    await using opened = await open()
    const { store } = opened
    const process = openProcess(store, emulator, { slots: { slots: 2 } })
    const { id: group } = emulator.library.addGroup({ name: 'face', type: 'LivenessFace' })
    await store.adoptGroup({ id: group, user: 'kim', type: 'LivenessFace', name: 'face', createdAt: 1 })
    const face = await process.asset('kim', group, 'face', { GroupType: 'LivenessFace' })
    expect(emulator.library.asset(face)?.groupId).toBe(group)
    expect(await process.list('kim', '&GroupType=LivenessFace')).toEqual([face])
    expect((await process.assets.place?.([face], 't'))?.size).toBe(0)
  })
})

const sortedAs = async (
  process: ReturnType<typeof openProcess>,
  ids: readonly string[],
): Promise<readonly string[]> => {
  const times = new Map<string, string>()
  for (const id of ids) times.set(id, (await process.ask('ann', 'GET', `/assets/${id}`)).json.Result.CreateTime)
  const keyOf = (id: string) => `${times.get(id)} ${id}`
  return ids.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
