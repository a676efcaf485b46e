import { describe, expect, test } from 'bun:test'
import { adoptFace, ids, messageOf, newAsset, newGroup, openFixture, repeatedKinds } from './fixture.ts'

/** Everything that reached the upstream, as text. */
const textOf = (calls: readonly { readonly path: string; readonly json?: unknown }[]): string =>
  calls.map(({ path, json }) => `${path} ${JSON.stringify(json)}`).join('\n')

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  test('NameContains finds assets by a part of the name in any case, exactly, in the caller’s groups', async () => {
    await using fixture = await openFixture({ kindOf })
    const { ann, bob } = fixture
    const [a, b] = [await newGroup(ann, 'a'), await newGroup(ann, 'b')]
    const face = await adoptFace(fixture, ann, 'a')
    await newAsset(bob, await newGroup(bob, 'a'), { Name: 'Beach' })
    const beach = await newAsset(ann, a, { Name: 'Beach at noon' })
    const long = await newAsset(ann, b, { Name: 'on the BEACH' })
    const wide = await newAsset(ann, b, { Name: 'Ｂｅａｃｈ' })
    await newAsset(ann, b, { Name: 'bay' })
    await newAsset(ann, b)
    const inFace = await newAsset(ann, face, { Name: 'beach', GroupType: 'LivenessFace' })
    const list = async (query: string) => ids(await ann.ask('GET', `/assets?${query}`)).toSorted()
    for (const part of ['beach', 'BEACH', 'eAcH']) {
      expect(await list(`NameContains=${part}`)).toEqual([beach, long, wide].toSorted())
    }
    expect(await list('NameContains=at%20no')).toEqual([beach])
    expect(await list(`NameContains=beach&GroupIds=${b}`)).toEqual([long, wide].toSorted())
    expect(await list('NameContains=beach&GroupType=LivenessFace')).toEqual([inFace])
    expect(await list('NameContains=')).toHaveLength(5)
    expect(await list('NameContains=ay&Name=bay')).toHaveLength(1)
    const first = (await ann.ask('GET', '/assets?NameContains=beach&PageSize=2')).json.Result
    expect([first.Items.length, first.TotalCount]).toEqual([2, 3])
    const rest = await ann.ask('GET', `/assets?NameContains=beach&PageSize=2&NextToken=${first.NextToken}`)
    expect([...first.Items.map(({ Id }: { Id: string }) => Id), ...ids(rest)].toSorted()).toEqual(
      [beach, long, wide].toSorted(),
    )
    expect(rest.json.Result.NextToken).toBe('')
    // The body of a GET may hold them too.
    expect(ids(await ann.ask('GET', '/assets', { Filter: { NameContains: 'noon' } }))).toEqual([beach])
  })

  test('AssetTypes finds assets by type', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const image = await newAsset(fixture.ann, group)
    const video = await newAsset(fixture.ann, group, { URL: 'https://files.example/a.mp4', AssetType: 'Video' })
    const list = async (query: string) => ids(await fixture.ann.ask('GET', `/assets?${query}`)).toSorted()
    expect(await list('AssetTypes=Video')).toEqual([video])
    expect(await list('AssetTypes=Video,Image')).toEqual([image, video].toSorted())
    expect(await list('AssetTypes=Audio')).toEqual([])
    expect(messageOf(await fixture.ann.ask('GET', '/assets?AssetTypes=video'))).toBe(
      'AssetTypes must be one of Image, Video, Audio',
    )
  })

  test('the filters of the gateway never reach the upstream', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    for (let nth = 0; nth < 3; nth++) fixture.emulator.library.addAsset({ groupId: group, name: `secretword ${nth}` })
    fixture.calls()
    const query = 'NameContains=secretword&AssetTypes=Image'
    expect(ids(await fixture.ann.ask('GET', `/assets?${query}`))).toHaveLength(3)
    await fixture.ann.ask('GET', '/assets/groups?NameContains=secretword')
    await fixture.ann.ask('GET', '/assets', { Filter: { NameContains: 'secretword', AssetTypes: ['Image'] } })
    const sent = textOf(fixture.calls())
    expect(sent).toContain(group)
    expect(sent).not.toMatch(/NameContains|AssetTypes|secretword/i)
  })

  test('a long name is rejected, and an item of another user never found', async () => {
    await using fixture = await openFixture({ kindOf })
    const group = await newGroup(fixture.ann, 'a')
    const own = await newAsset(fixture.ann, group, { Name: 'mine' })
    expect(messageOf(await fixture.ann.ask('GET', `/assets?NameContains=${'x'.repeat(65)}`))).toBe(
      'NameContains must be at most 64 characters',
    )
    // An upstream that lists what it was not asked for.
    fixture.emulator.faults.add({ kind: 'foreign', action: 'ListAssets', times: 50 })
    expect(ids(await fixture.ann.ask('GET', '/assets?NameContains=m'))).toEqual([own])
  })
})

test('groups are found by a part of the name in any case, from the gateway’s own records', async () => {
  await using fixture = await openFixture()
  const { ann, bob } = fixture
  const [beach, north] = [await newGroup(ann, 'Beach'), await newGroup(ann, 'northern beaches')]
  await newGroup(ann, 'mountains')
  await newGroup(bob, 'beach of bob')
  const list = async (query: string) => (await ann.ask('GET', `/assets/groups?${query}`)).json.Result
  expect((await list('NameContains=BEACH')).Items.map(({ Id }: { Id: string }) => Id)).toEqual([north, beach])
  expect((await list('NameContains=beach&PageSize=1')).TotalCount).toBe(2)
  expect((await list('NameContains=beach&SortBy=UpdateTime&SortOrder=Asc')).TotalCount).toBe(2)
  fixture.calls()
  expect(await list('NameContains=nowhere')).toEqual({ Items: [], NextToken: '', TotalCount: 0 })
  expect(fixture.calls()).toEqual([])
})
