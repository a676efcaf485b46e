import { expect } from 'bun:test'
import { instantKey } from '../../plugins/pagination-normalizer/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { startGateway, type User } from '../support/gateway.ts'
import { pick, seededRandom } from './fixture.ts'

interface Item {
  readonly Id: string
  readonly GroupId: string
  readonly Name: string
  readonly Status: string
  readonly CreateTime: string
  readonly UpdateTime: string
}

/** Random libraries of two users: with many equal times in three formats, and names that the upstream matches partially. */
const fill = async (random: () => number, seed: number, accountCount: number) => {
  let time = Date.UTC(2026, 0, 1)
  const emulators = await Promise.all(
    Array.from({ length: accountCount }, (_, account) =>
      startEmulator({ times: 'mixed', clock: () => time, processingMs: 0, account }),
    ),
  )
  const [emulator] = emulators as [Emulator]
  const store = openStore('sqlite::memory:')
  const gateway = await startGateway({
    emulator,
    store,
    clock: { ...systemClock, now: () => time },
    kindOf: () => rest(emulator.rest),
    ...(accountCount > 1 && {
      kind: undefined,
      accounts: emulators.map((each, account) => ({ name: `account-${account}`, kind: rest(each.rest) })),
    }),
  })
  const ann = await gateway.addUser('ann')
  const bob = await gateway.addUser('bob')
  const groupCount = 1 + Math.floor(random() ** 3 * (seed % 10 === 0 ? 500 : 30))
  const assetCount = Math.floor(random() ** 2 * (seed % 20 === 0 ? 50_000 : 1_500))
  const moments = 1 + Math.floor(random() * Math.max(1, assetCount / (pick(random, [1, 3, 40]) ?? 1)))
  const groups: string[] = []
  const libraries = new Map<string, Emulator['library']>()
  for (let nth = 0; nth < groupCount * 2; nth++) {
    const account = Math.floor(random() * accountCount)
    const library = (emulators[account] ?? emulator).library
    const { id } = library.addGroup({
      name: `group ${nth}`,
      type: 'AIGC',
      createTime: time + Math.floor(random() * 1e6),
    })
    const user = nth < groupCount ? ann : bob
    // Records of the first account are as they were before there were several.
    const named = account > 0 && { account: `account-${account}` }
    await store.adoptGroup({ id, user: user.id, type: 'AIGC', name: `group ${nth}`, ...named, createdAt: time })
    groups.push(id)
    libraries.set(id, library)
  }
  for (let nth = 0; nth < assetCount; nth++) {
    const createTime = time + Math.floor(random() * moments) * 1_000
    const groupId = pick(random, groups) ?? ''
    libraries.get(groupId)?.addAsset({
      groupId,
      name: pick(random, ['cat', 'Cat', 'cat 2', 'a cat', 'dog']) ?? '',
      status: pick(random, ['Active', 'Processing', 'Failed'] as const) ?? 'Active',
      createTime,
      updateTime: createTime + Math.floor(random() * 5) * 1_000,
    })
  }
  time += 1e9
  const own = new Set(groups.slice(0, groupCount))
  return { emulators, libraries, store, gateway, ann, own, groups: [...own] }
}

const listOf = async (user: User, query: URLSearchParams, byBody: boolean) => {
  if (!byBody) return user.ask('GET', `/assets?${query}`)
  const { GroupIds, Statuses, Name, ...paging } = Object.fromEntries(query)
  const Filter = { Name, GroupIds: GroupIds?.split(','), Statuses: Statuses?.split(',') }
  return user.ask('GET', '/assets', { Filter, ...paging })
}

/** Compares lists of the random libraries with these seeds with the sorted, filtered and sliced items. */
export const checkLibraries = async (from: number, to: number, accountCount = 1): Promise<void> => {
  for (let seed = from; seed <= to; seed++) {
    const random = seededRandom(seed * 31)
    const { emulators, libraries, store, gateway, ann, own, groups } = await fill(random, seed, accountCount)
    const all: Item[] = [...own].flatMap((group) =>
      (libraries.get(group)?.assets(group) ?? []).map((asset) => ({
        Id: asset.id,
        GroupId: asset.groupId,
        Name: asset.name,
        Status: asset.status,
        CreateTime: new Date(Math.floor(asset.createTime / 1000) * 1000).toISOString(),
        UpdateTime: new Date(Math.floor(asset.updateTime / 1000) * 1000).toISOString(),
      })),
    )
    for (let nth = 0; nth < 10; nth++) {
      const query = new URLSearchParams()
      const sortBy = pick(random, ['CreateTime', 'UpdateTime', 'GroupId'] as const) ?? 'CreateTime'
      const sortOrder = pick(random, ['Asc', 'Desc']) ?? 'Asc'
      query.set('SortBy', sortBy)
      query.set('SortOrder', sortOrder)
      const name = random() < 0.3 ? pick(random, ['cat', 'cat 2', 'none']) : undefined
      const statuses = random() < 0.3 ? ['Active', 'Failed'] : undefined
      const some = random() < 0.3 ? groups.filter(() => random() < 0.5).slice(0, 60) : []
      if (name) query.set('Name', name)
      if (statuses) query.set('Statuses', statuses.join())
      if (some.length > 0) query.set('GroupIds', some.join())
      const direction = sortOrder === 'Asc' ? 1 : -1
      const key = (item: Item) => (sortBy === 'GroupId' ? item.GroupId : instantKey(item[sortBy]))
      const expected = all
        .filter((item) => !name || item.Name === name)
        .filter((item) => !statuses || statuses.includes(item.Status))
        .filter((item) => some.length === 0 || some.includes(item.GroupId))
        .sort((a, b) => direction * (compare(key(a), key(b)) || compare(a.Id, b.Id)))
        .map((item) => item.Id)

      const size = pick(random, [1, 10, 30, 100]) ?? 10
      query.set(pick(random, ['PageSize', 'MaxResults']) ?? 'PageSize', String(size))
      let start = Math.floor((random() * expected.length) / size) * size
      query.set('PageNumber', String(start / size + 1))
      for (let step = 0; step < 3; step++) {
        const reply = await listOf(ann, query, random() < 0.3)
        const { Items, NextToken, TotalCount } = reply.json.Result
        const context = { seed, nth, step, query: String(query).slice(0, 200) }
        expect({ ...context, ids: Items.map((item: Item) => item.Id) }).toEqual({
          ...context,
          ids: expected.slice(start, start + size),
        })
        expect({ ...context, TotalCount }).toEqual({ ...context, TotalCount: expected.length })
        start += size
        if (NextToken === '') break
        // Continues by token, which has priority over PageNumber.
        query.set('NextToken', NextToken)
      }
    }
    await gateway[Symbol.asyncDispose]()
    await store.close()
    for (const emulator of emulators) await emulator.stop()
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
