import { describe, expect, test } from 'bun:test'
import {
  adoptFace,
  errorReply,
  type Fixture,
  ids,
  newAsset,
  newGroup,
  openFixture,
  repeatedKinds,
  statusAndText,
} from './fixture.ts'

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('a list contains only assets of the caller’s groups of the type', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob, emulator } = fixture
    const [a, b] = [await newGroup(ann, 'a'), await newGroup(ann, 'b')]
    const face = await adoptFace(fixture, ann, 'a')
    const others = await newGroup(bob, 'a')
    emulator.library.addAsset({ groupId: emulator.library.addGroup({ name: 'a' }).id })
    const own = [await newAsset(ann, a), await newAsset(ann, a), await newAsset(ann, b)]
    const inFace = await newAsset(ann, face, { GroupType: 'LivenessFace' })
    const foreign = await newAsset(bob, others)
    expect(ids(await ann.ask('GET', '/assets')).toSorted()).toEqual(own.toSorted())
    expect(ids(await ann.ask('GET', '/assets?GroupType=LivenessFace'))).toEqual([inFace])
    expect(ids(await ann.ask('GET', `/assets?GroupIds=${b}`))).toEqual(own.slice(2))
    expect(ids(await bob.ask('GET', '/assets'))).toEqual([foreign])
  })

  test('the upstream request contains only the caller’s groups', async () => {
    await using fixture = await openFixture({ kindOf })
    const own = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.ann, 'b')]
    await newGroup(fixture.bob, 'a')
    fixture.calls()
    await fixture.ann.ask('GET', '/assets?Name=x&Statuses=Active')
    const [call] = fixture.calls()
    const query = new URLSearchParams(call?.path.split('?')[1])
    const filter = (call?.json as { Filter?: { GroupIds: string[] } } | undefined)?.Filter
    expect((filter?.GroupIds ?? query.get('GroupIds')?.split(','))?.toSorted()).toEqual(own.toSorted())
    expect(filter ?? Object.fromEntries(query)).toMatchObject({ Name: 'x', GroupType: 'AIGC' })
  })

  test('Name is matched exactly, although the upstream matches it partially', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const cat = await newAsset(fixture.ann, group, { Name: 'cat' })
    for (const Name of ['Cat', 'cats', 'cat ', 'a cat']) await newAsset(fixture.ann, group, { Name })
    const reply = await fixture.ann.ask('GET', '/assets?Name=cat')
    expect(ids(reply)).toEqual([cat])
    expect(reply.json.Result.TotalCount).toBe(1)
  })

  test('Statuses are matched exactly, comma-separated or repeated', async () => {
    await using fixture = await openFixture({ kindOf, emulator: { processingMs: Number.POSITIVE_INFINITY } })
    const groupId = await newGroup(fixture.ann, 'a')
    const add = (status: 'Active' | 'Processing' | 'Failed') =>
      fixture.emulator.library.addAsset({ groupId, status }).id
    const [active, processing, failed] = [add('Active'), add('Processing'), add('Failed')]
    const list = async (query: string) => ids(await fixture.ann.ask('GET', `/assets?${query}`)).toSorted()
    expect(await list('Statuses=Failed')).toEqual([failed])
    expect(await list('Statuses=Processing')).toEqual([processing])
    for (const query of [
      'Statuses=Active,Failed',
      'Statuses=Active&Statuses=Failed',
      'Statuses=Failed,,Active,Active',
    ]) {
      expect(await list(query)).toEqual([active, failed].toSorted())
    }
    // The result is the same for an upstream that ignores the filter.
    const { Items } = (await fixture.ann.ask('GET', '/assets')).json.Result
    fixture.emulator.faults.add({ kind: 'status', status: 200, body: JSON.stringify({ Result: { Items } }) })
    expect(await list('Statuses=Failed')).toEqual([failed])
  })

  test.each(['foreign', 'missing-field'] as const)(
    'an item outside the requested groups is dropped: %s',
    async (kind) => {
      await using fixture = await openFixture({ kindOf })
      const own = await newGroup(fixture.ann, 'a')
      const other = await newGroup(fixture.ann, 'b')
      const asset = await newAsset(fixture.ann, own)
      await newAsset(fixture.ann, other)
      await newAsset(fixture.bob, await newGroup(fixture.bob, 'a'))
      const fault = kind === 'foreign' ? { kind } : { kind, field: 'GroupId' }
      fixture.emulator.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
      const reply = await fixture.ann.ask('GET', `/assets?GroupIds=${own}`)
      expect(ids(reply)).toEqual(kind === 'foreign' ? [asset] : [])
      expect(reply.json.Result.TotalCount).toBe(kind === 'foreign' ? 1 : 0)
    },
  )

  test('times are ordered as instants in any format, and equal times by Id', async () => {
    await using fixture = await openFixture({ kindOf, emulator: { times: 'mixed' } })
    const group = await newGroup(fixture.ann, 'a')
    const { library } = fixture.emulator
    const at = Date.UTC(2026, 0, 1)
    const assets = Array.from({ length: 30 }, (_, nth) =>
      library.addAsset({ groupId: group, createTime: at + ((nth * 7) % 10) * 3_600_000, updateTime: at + nth * 1_000 }),
    )
    const by = (key: 'createTime' | 'updateTime') =>
      assets.toSorted((a, b) => a[key] - b[key] || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
    const sorted = async (query: string) => ids(await fixture.ann.ask('GET', `/assets?PageSize=100&${query}`))
    expect(await sorted('SortOrder=Asc')).toEqual(by('createTime'))
    expect(await sorted('')).toEqual(by('createTime').toReversed())
    expect(await sorted('SortBy=UpdateTime&SortOrder=Asc')).toEqual(by('updateTime'))
  })

  test('SortBy GroupId orders by GroupId, then by Id', async () => {
    await using fixture = await openFixture({ kindOf })
    const made: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const group = await newGroup(fixture.ann, name)
      for (let nth = 0; nth < 3; nth++) made.push(`${group} ${await newAsset(fixture.ann, group)}`)
    }
    const expected = made.toSorted().map((pair) => pair.split(' ')[1] ?? '')
    expect(ids(await fixture.ann.ask('GET', '/assets?SortBy=GroupId&SortOrder=Asc'))).toEqual(expected)
    expect(ids(await fixture.ann.ask('GET', '/assets?SortBy=GroupId'))).toEqual(expected.toReversed())
  })

  test('an upstream error is forwarded with status and body', async () => {
    await using fixture = await openFixture({ kindOf })
    await newGroup(fixture.ann, 'a')
    for (const status of [400, 401, 403, 404, 429, 500, 503]) {
      const body = `{"Because": ${status}.0}`
      fixture.emulator.faults.add({ kind: 'status', status, body })
      expect(statusAndText(await fixture.ann.ask('GET', '/assets'))).toEqual({ status, text: body })
    }
  })

  test('groups above the upstream’s maximum are requested in several calls', async () => {
    await using fixture = await openFixture({ kindOf })
    const { library } = fixture.emulator
    const assets: string[] = []
    for (let nth = 0; nth < 101; nth++) {
      const { id } = library.addGroup({ name: `${nth}` })
      const wanted = { id, user: fixture.ann.id, type: 'AIGC', name: `${nth}`, createdAt: nth }
      expect(await fixture.store.adoptGroup(wanted)).toBeUndefined()
      assets.push(library.addAsset({ groupId: id }).id)
    }
    expect(await walk(fixture, 'PageSize=40')).toEqual(assets.toSorted())
    expect(fixture.calls().filter(({ status }) => status !== 200)).toEqual([])
  })
})

/** The sorted ids of all pages. Throws for a duplicate. */
const walk = async ({ ann }: Fixture, query: string): Promise<string[]> => {
  const seen: string[] = []
  let token = ''
  do {
    const reply = await ann.ask('GET', `/assets?${query}&NextToken=${token}`)
    seen.push(...ids(reply))
    token = reply.json.Result.NextToken
  } while (token !== '')
  expect(new Set(seen).size).toBe(seen.length)
  return seen.toSorted()
}

test('without a usable upstream response an asset list is 502', async () => {
  await using fixture = await openFixture()
  await newGroup(fixture.ann, 'a')
  fixture.emulator.faults.add({ kind: 'reset-before', times: Number.POSITIVE_INFINITY })
  expect(statusAndText(await fixture.ann.ask('GET', '/assets'))).toEqual(
    errorReply(502, 'Seedance upstream unavailable'),
  )
})
