import { expect, setDefaultTimeout, test } from 'bun:test'
import { JsonBody } from '../../plugins/shared/http/body/body.ts'
import { toJson } from '../../plugins/shared/json/json.ts'
import { declareOwned } from '../../plugins/shared/owned-id.ts'
import {
  createUpstream,
  createUpstreamOfAccounts,
  groupBatches,
  type Operation,
  rest,
} from '../../plugins/upstream-proxy/index.ts'
import { groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

const body = new JsonBody(toJson({ Name: 'x' }))
const query = (group: ReturnType<typeof groupOf>) =>
  ({ groupType: 'AIGC', groups: [group], sortBy: 'CreateTime', sortOrder: 'Asc', paging: { maxResults: 10 } }) as const
const groupOf = (account?: string) => declareOwned('group', { id: 'group-1', account })

/** Every operation with an id, of an account. */
const operationsOf = (account?: string): readonly Operation[] => {
  const group = groupOf(account)
  const asset = declareOwned('asset', { id: 'asset-1', account })
  return [
    { action: 'CreateAssetGroup', body, account },
    { action: 'ListAssetGroups', query: query(group) },
    { action: 'FindAssetGroups', groupType: 'AIGC', name: 'x', account },
    { action: 'UpdateAssetGroup', group, method: 'PUT', body },
    { action: 'DeleteAssetGroup', group },
    { action: 'CreateAsset', group, body },
    { action: 'ListAssets', query: query(group) },
    { action: 'GetAsset', id: 'asset-1', account },
    { action: 'UpdateAsset', asset, method: 'PUT', body },
    { action: 'DeleteAsset', asset },
    { action: 'CreateVisualValidateSession', body, account },
    { action: 'GetVisualValidateResult', verification: declareOwned('verification', { id: 'v-1', account }) },
  ]
}

const kind = (host: string) => rest({ url: `http://${host}.example/api/media/proxy`, key: `key-of-${host}` })

test('every operation goes to the account of its ids, with its credentials', async () => {
  const sent: string[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push(`${new URL(url).hostname} ${(init.headers as Record<string, string>).authorization}`)
    return Response.json({ Result: { Items: [] } })
  }
  const upstream = createUpstreamOfAccounts(
    ['a', 'b'].map((name) => ({ name, kind: kind(name) })),
    { fetch },
  )
  for (const account of ['a', 'b']) {
    const operations = operationsOf(account)
    sent.length = 0
    for (const operation of operations) await upstream.send(operation)
    expect(sent).toEqual(operations.map(() => `${account}.example Bearer key-of-${account}`))
  }
})

test('nothing is sent for an account that there is not, also where there is one without a name', async () => {
  const fetch = async (): Promise<Response> => {
    throw new Error('something was sent')
  }
  const several = createUpstreamOfAccounts([{ name: 'a', kind: kind('a') }], { fetch })
  const one = createUpstream({ kind: kind('a'), fetch })
  const cases = [...operationsOf('gone').flatMap((each) => [[several, each] as const, [one, each] as const])]
  for (const [upstream, operation] of [...cases, ...operationsOf().map((each) => [several, each] as const)]) {
    const error = await upstream.send(operation).catch((thrown: unknown) => thrown)
    expect([operation.action, error]).toMatchObject([
      operation.action,
      { status: 502, sent: false, message: expect.stringMatching(/^Seedance upstream unavailable/) },
    ])
  }
})

test('one call has groups of one account', async () => {
  const groups = ['a', 'b', undefined, 'a'].map((account, index) =>
    declareOwned('group', { id: `group-${index}`, account }),
  )
  expect(groupBatches(groups).map((batch) => batch.map(({ id }) => id))).toEqual([
    ['group-0', 'group-3'],
    ['group-1'],
    ['group-2'],
  ])
  const upstream = createUpstreamOfAccounts([{ name: 'a', kind: kind('a') }])
  const mixed = { ...query(groupOf('a')), groups: [groupOf('a'), groupOf('b')] } as const
  expect(await upstream.send({ action: 'ListAssets', query: mixed }).catch((thrown: unknown) => thrown)).toBeInstanceOf(
    TypeError,
  )
})

test('an asset cannot be moved to a group on another account', async () => {
  await using fixture = await openAccounts()
  const { ann, emulators } = fixture
  const [onA, other, onB] = [
    await groupOn(fixture, ann, 'a', 'one'),
    await groupOn(fixture, ann, 'a', 'two'),
    await groupOn(fixture, ann, 'b', 'three'),
  ]
  const asset = emulators[0]?.library.addAsset({ groupId: onA }).id
  const calls = () => emulators.map((each) => each.calls.filter(({ method }) => method !== 'GET').length)
  const before = calls()
  for (const [path, method, wanted] of [
    [`/assets/${asset}`, 'PUT', { GroupId: onB }],
    [`/assets/groups/${onA}`, 'PATCH', { Description: 'x', GroupId: onB }],
    ['/assets', 'POST', { GroupId: onA, URL: 'https://files.example/x.png', AssetType: 'Image', x: { GroupId: onB } }],
  ] as const) {
    const reply = await ann.ask(method, path, wanted)
    expect([path, reply.status, reply.json.error.message]).toEqual([
      path,
      400,
      'group_id is on another account: b instead of a',
    ])
  }
  expect(calls()).toEqual(before)
  expect((await ann.ask('PUT', `/assets/${asset}`, { GroupId: other, Name: 'x' })).status).toBe(200)
})

test('the group of an asset counts only if the account that names it has it', async () => {
  await using fixture = await openAccounts()
  const { ann, bob, emulators } = fixture
  const onA = await groupOn(fixture, ann, 'a', 'one')
  await groupOn(fixture, ann, 'b', 'two')
  // The account b claims to have an asset in the group that is on a.
  emulators[1]?.library.addGroup({ id: onA, name: 'one' })
  const asset = emulators[1]?.library.addAsset({ groupId: onA }).id
  for (const method of ['GET', 'DELETE']) expect((await ann.ask(method, `/assets/${asset}`)).status).toBe(403)
  expect((await bob.ask('GET', `/assets/${asset}`)).status).toBe(403)
  expect(emulators.flatMap(({ calls }) => calls.filter(({ action }) => action === 'DeleteAsset'))).toEqual([])
})

test('a foreign asset and one that does not exist are looked for on the same accounts', async () => {
  await using fixture = await openAccounts({ names: ['a', 'b', 'c'] })
  const { ann, bob, emulators } = fixture
  const foreign = emulators[2]?.library.addAsset({ groupId: await groupOn(fixture, bob, 'c', 'x', ['a', 'b', 'c']) }).id
  await groupOn(fixture, ann, 'b', 'x', ['a', 'b', 'c'])
  const asked: unknown[] = []
  for (const id of [foreign, 'asset-20260101000000-aaaaa']) {
    for (const { calls } of emulators) (calls as unknown[]).length = 0
    const reply = await ann.ask('GET', `/assets/${id}`)
    asked.push([reply.status, reply.text, emulators.map(({ calls }) => calls.map(({ action }) => action))])
  }
  expect(asked[0]).toEqual(asked[1])
  expect(asked[0]).toMatchObject([403, expect.anything(), [[], ['GetAsset'], []]])
})
