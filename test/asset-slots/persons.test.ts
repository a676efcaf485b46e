import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, repeatOnDatabases } from '../support/database.ts'
import { until } from '../support/until.ts'
import { openProcess, type SlotProcess, type SlotProcessOptions } from './fixture.ts'

repeatOnDatabases('assets of persons in a library that is larger than its slots', ({ kind }) => {
  let emulator: Emulator
  beforeAll(async () => {
    emulator = await startEmulator({ processingMs: 0 })
  })
  afterAll(() => emulator.stop())

  /** Processes with a database of their own. */
  const open = async (options: SlotProcessOptions) => {
    for (const { id } of emulator.library.groups()) emulator.library.deleteGroup(id)
    const made = await migratedDatabase(kind)
    const store = openStore(made.url, { deadlineMs: 60_000 })
    return {
      ...{ store, process: openProcess(store, emulator, options), other: openProcess(store, emulator, options) },
      async [Symbol.asyncDispose]() {
        await store.close()
        await made.remove()
      },
    }
  }

  const addPerson = async (store: Store, user: string): Promise<string> => {
    const { id } = emulator.library.addGroup({ name: `face of ${user}`, type: 'LivenessFace' })
    await store.adoptGroup({ id, user, type: 'LivenessFace', name: `face of ${user}`, createdAt: 1 })
    return id
  }

  const createIn = (process: SlotProcess, user: string, GroupId: string, Name: string) =>
    process.ask(user, 'POST', '/assets', {
      ...{ GroupId, Name, GroupType: 'LivenessFace', AssetType: 'Image' },
      URL: `https://files.example/${Name}.png`,
    })

  /** Creates assets until one is refused. Resolves with the ids, and the last response. */
  const fill = async (process: SlotProcess, user: string, group: string) => {
    const ids: string[] = []
    for (let at = 0; at < 30; at++) {
      const reply = await createIn(process, user, group, `${user}-face-${at}`)
      if (reply.status !== 200) return { ids, refused: reply }
      ids.push(reply.json.Result.Id)
    }
    throw new Error('nothing was refused')
  }

  test('are refused at the cap of their user, and take the place of other assets before that', async () => {
    const changes: string[] = []
    await using opened = await open({ slots: { slots: 9, cap: 3, observeChange: (change) => changes.push(change) } })
    const { process, store } = opened
    const group = await process.group('eve', 'things')
    for (const name of ['a', 'b', 'c'])
      await process.ask('eve', 'GET', `/assets/${await process.asset('eve', group, name)}`)
    expect(emulator.library.assets(group)).toHaveLength(3)
    const face = await addPerson(store, 'eve')
    const { ids, refused } = await fill(process, 'eve', face)
    expect(ids).toHaveLength(3)
    expect([refused.status, refused.json.error.message]).toEqual([
      429,
      'you have the maximum number of assets in slots: delete an asset of a person',
    ])
    expect(emulator.library.assets(group)).toHaveLength(0)
    expect(changes.filter((change) => change === 'evicted')).toHaveLength(3)
    expect(emulator.library.assets(face)).toHaveLength(3)
    // What is deleted makes room, also if the upstream has lost it.
    expect((await process.ask('eve', 'DELETE', `/assets/${ids[0]}`)).status).toBe(200)
    expect((await createIn(process, 'eve', face, 'again')).status).toBe(200)
    emulator.library.deleteAsset(ids[1] ?? '')
    expect((await createIn(process, 'eve', face, 'more')).status).toBe(429)
    expect((await process.ask('eve', 'GET', `/assets/${ids[1]}`)).status).toBe(404)
    expect((await createIn(process, 'eve', face, 'more')).status).toBe(200)
    // Another user is not concerned.
    expect((await createIn(process, 'fay', await addPerson(store, 'fay'), 'hers')).status).toBe(200)
  })

  test('leave each other user the floor, and the next one', async () => {
    await using opened = await open({ slots: { slots: 8, floor: 2 } })
    const { process, store } = opened
    const hers = await process.group('fay', 'things')
    const face = await addPerson(store, 'eve')
    const { ids, refused } = await fill(process, 'eve', face)
    // The floors of fay and of somebody to come are left.
    expect(ids).toHaveLength(4)
    expect([refused.status, refused.json.error.message]).toEqual([
      429,
      'the account has no slot for another asset of a person',
    ])
    const held = async (user: string, group: string) => {
      for (const name of ['a', 'b', 'c']) {
        await process.ask(user, 'GET', `/assets/${await process.asset(user, group, `${user}-${name}`)}`)
        await process.clock.pass(1_000)
      }
      return emulator.library.assets(group).length
    }
    // The slots that nobody has yet are taken too, until somebody comes who is below the floor.
    expect(await held('fay', hers)).toBe(3)
    const his = await process.group('gus', 'things')
    expect(await held('gus', his)).toBe(2)
    expect(emulator.library.assets(hers)).toHaveLength(2)
    expect(emulator.library.assets(face)).toHaveLength(4)
  })

  test('have half of the slots of a user at most, with neither a floor nor a cap', async () => {
    await using opened = await open({ slots: { slots: 7 } })
    const { process, store } = opened
    const { ids, refused } = await fill(process, 'eve', await addPerson(store, 'eve'))
    expect(ids).toHaveLength(3)
    expect([refused.status, refused.json.error.message]).toEqual([
      429,
      'you have the maximum number of assets in slots: delete an asset of a person',
    ])
    // Other assets of the user are not bounded.
    const group = await process.group('eve', 'things')
    for (const name of ['a', 'b', 'c', 'd'])
      await process.ask('eve', 'GET', `/assets/${await process.asset('eve', group, name)}`)
    expect(emulator.library.assets(group)).toHaveLength(4)
    // Nor do several users take the last slot of somebody who has a group, and of the next one.
    await process.group('gus', 'things')
    const others = await fill(process, 'fay', await addPerson(store, 'fay'))
    expect(others.ids).toHaveLength(2)
    expect(others.refused.json.error.message).toBe('the account has no slot for another asset of a person')
  })

  test('have all slots of a user with a cap that allows it, except those that are left to others', async () => {
    await using opened = await open({ slots: { slots: 7, cap: 7 } })
    const { process, store } = opened
    expect((await fill(process, 'eve', await addPerson(store, 'eve'))).ids).toHaveLength(6)
  })

  test('up to the own floor take nothing from those of others', async () => {
    await using opened = await open({ slots: { slots: 4, floor: 2 } })
    const { process, store } = opened
    const faces = await Promise.all(['eve', 'fay'].map((user) => addPerson(store, user)))
    expect((await fill(process, 'eve', faces[0] ?? '')).ids).toHaveLength(2)
    expect((await fill(process, 'fay', faces[1] ?? '')).ids).toHaveLength(2)
  })

  test('are as many as the cap, however many are created at once, on several processes', async () => {
    await using opened = await open({ slots: { slots: 20, cap: 3 } })
    const { process, other, store } = opened
    const face = await addPerson(store, 'eve')
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) => createIn(at % 2 ? process : other, 'eve', face, `at-once-${at}`)),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(3).fill(200), ...Array(9).fill(429)])
    expect(emulator.library.assets(face)).toHaveLength(3)
    expect((await createIn(process, 'eve', face, 'later')).status).toBe(429)
  })

  test('count once from their record on, also before their creation has ended', async () => {
    await using opened = await open({})
    const { store } = opened
    const { promise: ending, resolve: end } = Promise.withResolvers<void>()
    let recorded = 0
    const releasePersonSlot = async (id: string) => {
      recorded++
      await ending
      return store.releasePersonSlot(id)
    }
    const slots = { slots: 20, cap: 3, store: { ...store, releasePersonSlot } }
    const process = openProcess(store, emulator, { slots })
    const face = await addPerson(store, 'eve')
    let refused = 0
    const creations: Promise<void>[] = []
    for (const nth of [1, 2, 3]) {
      const creation = createIn(process, 'eve', face, `face-${nth}`).then(({ status }) => {
        if (status === 429) refused++
      })
      creations.push(creation)
      await until(() => recorded + refused === nth)
    }
    end()
    await Promise.all(creations)
    expect([recorded, refused]).toEqual([3, 0])
    expect((await createIn(process, 'eve', face, 'one-more')).status).toBe(429)
  })

  test('give their slot back when the upstream refuses them, and later when the answer is lost', async () => {
    await using opened = await open({ slots: { slots: 20, cap: 1 }, timeoutMs: 1_000 })
    const { process, store } = opened
    const face = await addPerson(store, 'eve')
    emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 400 })
    expect((await createIn(process, 'eve', face, 'refused')).status).toBe(400)
    emulator.faults.add({ kind: 'status', action: 'CreateAsset', status: 502 })
    expect((await createIn(process, 'eve', face, 'lost')).status).toBe(502)
    expect((await createIn(process, 'eve', face, 'early')).status).toBe(429)
    await process.clock.pass(60_000)
    expect((await createIn(process, 'eve', face, 'later')).status).toBe(200)
  })

  test('leave a task the slots that they do not have', async () => {
    await using opened = await open({ slots: { slots: 9, cap: 3 } })
    const { process, store } = opened
    const group = await process.group('eve', 'things')
    const ids = [await process.asset('eve', group, 'a'), await process.asset('eve', group, 'b')]
    for (const id of ids) await process.ask('eve', 'GET', `/assets/${id}`)
    const face = await addPerson(store, 'eve')
    for (const name of ['x', 'y']) expect((await createIn(process, 'eve', face, name)).status).toBe(200)
    const { assets } = process
    for (const attempt of [assets.requirePlaceable?.(ids), assets.place?.(ids, 'task')])
      expect(await attempt?.catch((error: unknown) => error)).toMatchObject({
        ...{ status: 429, code: 'QuotaExceeded' },
        message: 'a task may have at most 1 assets of the asset library, besides those of persons',
      })
    expect((await process.placed(ids.slice(0, 1), 'task')).size).toBe(1)
  })
})

test('an asset that was deleted, or has failed, is refused to a task, and one of a person passes', async () => {
  await using emulator = await startEmulator({ processingMs: 0 })
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const process = openProcess(store, emulator, { slots: { slots: 5 } })
  const group = await process.group('eve', 'things')
  const [kept, deleted] = [await process.asset('eve', group, 'a'), await process.asset('eve', group, 'b')]
  await process.placed([kept, deleted], 'task')
  await process.ask('eve', 'DELETE', `/assets/${deleted}`)
  const { assets } = process
  for (const attempt of [assets.requirePlaceable?.([kept, deleted]), assets.place?.([kept, deleted], 'task')])
    expect(await attempt?.catch((error: unknown) => error)).toMatchObject({
      ...{ status: 400, code: 'asset_not_found', message: `the asset ${deleted} has been deleted` },
    })
  const { id: face } = emulator.library.addGroup({ name: 'face', type: 'LivenessFace' })
  await store.adoptGroup({ id: face, user: 'eve', type: 'LivenessFace', name: 'face', createdAt: 1 })
  const person = await process.asset('eve', face, 'x', { GroupType: 'LivenessFace' })
  await assets.requirePlaceable?.([kept, person, 'asset-of-the-vendor'])
  expect([...(await process.placed([kept, person], 'task')).keys()]).toEqual([kept])
  await store.close()
})
