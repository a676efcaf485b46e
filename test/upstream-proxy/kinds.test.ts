import { describe, expect, test } from 'bun:test'
import { ark, arkAuthorization, type Operation, rest } from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, built, ownAsset, ownGroup } from './scripted-upstream.ts'

const query = {
  groupType: 'AIGC',
  groups: [ownGroup('g-1'), ownGroup('g 2&')],
  name: 'a b+c&d=ä',
  statuses: ['Active', 'Failed'],
  sortBy: 'UpdateTime',
  sortOrder: 'Asc',
  paging: { maxResults: 100, nextToken: 't/+=' },
} as const
const bare = {
  groupType: 'LivenessFace',
  groups: [ownGroup('g')],
  sortBy: 'CreateTime',
  sortOrder: 'Desc',
  paging: { maxResults: 7 },
} as const

describe('rest: the paths of the gateway', () => {
  const kind = rest({ url: 'https://up.test/api/media/proxy//', key: 'the-key' })
  const base = 'https://up.test/api/media/proxy'
  const sent = { authorization: 'Bearer the-key' }
  const posted = { ...sent, 'content-type': 'application/json' }
  const body = bodyOf('{ "Name":"x" }')
  const cases: readonly [Operation, string, string, boolean][] = [
    [{ action: 'CreateAssetGroup', body }, 'POST', '/assets/groups', true],
    [
      { action: 'UpdateAssetGroup', group: ownGroup('g/1'), method: 'PATCH', body },
      'PATCH',
      '/assets/groups/g%2F1',
      true,
    ],
    [{ action: 'UpdateAssetGroup', group: ownGroup('g'), method: 'PUT', body }, 'PUT', '/assets/groups/g', true],
    [{ action: 'DeleteAssetGroup', group: ownGroup('g') }, 'DELETE', '/assets/groups/g', false],
    [{ action: 'CreateAsset', group: ownGroup('g'), body }, 'POST', '/assets', true],
    [{ action: 'GetAsset', id: 'a' }, 'GET', '/assets/a', false],
    [{ action: 'UpdateAsset', asset: ownAsset('a'), method: 'PUT', body }, 'PUT', '/assets/a', true],
    [{ action: 'UpdateAsset', asset: ownAsset('a'), method: 'PATCH', body }, 'PATCH', '/assets/a', true],
    [{ action: 'DeleteAsset', asset: ownAsset('a') }, 'DELETE', '/assets/a', false],
  ]
  for (const [operation, method, path, bodied] of cases) {
    test(`${method} ${path} for ${operation.action}`, async () => {
      expect(await built(kind, operation)).toEqual({
        method,
        url: base + path,
        headers: bodied ? posted : sent,
        body: bodied ? '{ "Name":"x" }' : undefined,
      })
    })
  }

  test('lists have their parameters in the query', async () => {
    for (const action of ['ListAssets', 'ListAssetGroups'] as const) {
      const { method, url } = await built(kind, { action, query })
      expect(method).toBe('GET')
      expect(new URL(url).pathname).toBe(
        action === 'ListAssets' ? '/api/media/proxy/assets' : '/api/media/proxy/assets/groups',
      )
      expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
        GroupType: 'AIGC',
        GroupIds: 'g-1,g 2&',
        Name: 'a b+c&d=ä',
        Statuses: 'Active,Failed',
        SortBy: 'UpdateTime',
        SortOrder: 'Asc',
        MaxResults: '100',
        NextToken: 't/+=',
      })
    }
  })

  test('page mode and cursor mode are exclusive', async () => {
    const paged = { ...query, paging: { pageNumber: 3, pageSize: 20 } }
    const { searchParams } = new URL((await built(kind, { action: 'ListAssets', query: paged })).url)
    expect([searchParams.get('PageNumber'), searchParams.get('PageSize')]).toEqual(['3', '20'])
    expect([searchParams.has('MaxResults'), searchParams.has('NextToken')]).toEqual([false, false])
  })

  test('absent parameters are not sent', async () => {
    const { url } = await built(kind, { action: 'ListAssets', query: bare })
    expect([...new URL(url).searchParams.keys()].sort()).toEqual([
      'GroupIds',
      'GroupType',
      'MaxResults',
      'SortBy',
      'SortOrder',
    ])
  })

  test('groups are searched by type and name', async () => {
    const { url } = await built(kind, { action: 'FindAssetGroups', groupType: 'AIGC', name: 'a&b', nextToken: 't' })
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      GroupType: 'AIGC',
      Name: 'a&b',
      SortBy: 'CreateTime',
      SortOrder: 'Desc',
      MaxResults: '100',
      NextToken: 't',
    })
  })

  test('ProjectName is removed at the top level and in Filter, in any case; the rest stays byte for byte', async () => {
    const text = '{ "b": 1.0,"ProjectName":"p", "Filter" : { "projectname":1,"x" : [ 1 ] } , "a":12345678901234567890 }'
    const { body } = await built(kind, { action: 'CreateAsset', group: ownGroup('g'), body: bodyOf(text) })
    expect(body).toBe('{ "b": 1.0,"Filter" : {"x" : [ 1 ] } , "a":12345678901234567890 }')
    expect(
      await built(kind, { action: 'CreateAsset', group: ownGroup('g'), body: bodyOf('{"x":{"ProjectName":1} }') }),
    ).toMatchObject({
      body: '{"x":{"ProjectName":1} }',
    })
  })
})

describe('ark: the actions of the vendor', () => {
  const credentials = { accessKey: 'AK', secretKey: 'SK-secret', region: 'cn-beijing' }
  const now = Date.UTC(2024, 0, 2, 3, 4, 5)
  const kind = ark({ url: 'https://ark.test:8443/ignored', ...credentials, project: 'p-1', clock: { now: () => now } })
  const body = bodyOf('{"Name":"x","ProjectName":"theirs","n":1.0}')

  const cases: readonly [Operation, string, unknown][] = [
    [{ action: 'CreateAssetGroup', body }, 'CreateAssetGroup', { Name: 'x', n: 1 }],
    [{ action: 'CreateAsset', group: ownGroup('g'), body }, 'CreateAsset', { Name: 'x', n: 1 }],
    [
      { action: 'UpdateAssetGroup', group: ownGroup('g'), method: 'PUT', body },
      'UpdateAssetGroup',
      { Id: 'g', Name: 'x', n: 1 },
    ],
    [
      { action: 'UpdateAsset', asset: ownAsset('a'), method: 'PATCH', body },
      'UpdateAsset',
      { Id: 'a', Name: 'x', n: 1 },
    ],
    [{ action: 'DeleteAssetGroup', group: ownGroup('g') }, 'DeleteAssetGroup', { Id: 'g' }],
    [{ action: 'GetAsset', id: '../a"' }, 'GetAsset', { Id: '../a"' }],
    [{ action: 'DeleteAsset', asset: ownAsset('a') }, 'DeleteAsset', { Id: 'a' }],
    [
      { action: 'ListAssets', query },
      'ListAssets',
      {
        Filter: { GroupIds: ['g-1', 'g 2&'], GroupType: 'AIGC', Name: 'a b+c&d=ä', Statuses: ['Active', 'Failed'] },
        SortBy: 'UpdateTime',
        SortOrder: 'Asc',
        MaxResults: 100,
        NextToken: 't/+=',
      },
    ],
    [
      { action: 'ListAssetGroups', query: bare },
      'ListAssetGroups',
      {
        Filter: { GroupIds: ['g'], GroupType: 'LivenessFace' },
        SortBy: 'CreateTime',
        SortOrder: 'Desc',
        MaxResults: 7,
      },
    ],
    [
      { action: 'FindAssetGroups', groupType: 'AIGC', name: 'n' },
      'ListAssetGroups',
      { Filter: { GroupType: 'AIGC', Name: 'n' }, SortBy: 'CreateTime', SortOrder: 'Desc', MaxResults: 100 },
    ],
    [
      { action: 'FindAssetGroups', groupType: 'AIGC', name: 'n', sortBy: 'UpdateTime' },
      'ListAssetGroups',
      { Filter: { GroupType: 'AIGC', Name: 'n' }, SortBy: 'UpdateTime', SortOrder: 'Desc', MaxResults: 100 },
    ],
  ]
  for (const [operation, action, expected] of cases) {
    test(`${operation.action} is ${action}, in the account's project, signed over what is sent`, async () => {
      const { method, url, headers, body } = await built(kind, operation)
      expect([method, url]).toEqual(['POST', `https://ark.test:8443/?Action=${action}&Version=2024-01-01`])
      expect(JSON.parse(body ?? '')).toEqual({ ...(expected as object), ProjectName: 'p-1' })
      const { authorization, ...signed } = headers
      expect(signed).toMatchObject({ 'x-date': '20240102T030405Z', 'content-type': 'application/json' })
      expect(authorization).toBe(
        await arkAuthorization(
          {
            method: 'POST',
            host: 'ark.test:8443',
            query: { Action: action, Version: '2024-01-01' },
            headers: signed as { 'x-date': string },
            body: body ?? '',
          },
          credentials,
        ),
      )
      expect(authorization).not.toContain('SK-secret')
    })
  }

  test('an id in the body never replaces the checked id', async () => {
    const text = '{"Id":"theirs","ID":"theirs","id":"theirs","\\u0049d":"theirs","Name":"x"}'
    const changes: readonly Operation[] = [
      { action: 'UpdateAsset', asset: ownAsset('mine'), method: 'PUT', body: bodyOf(text) },
      { action: 'UpdateAssetGroup', group: ownGroup('mine'), method: 'PUT', body: bodyOf(text) },
    ]
    for (const operation of changes) {
      const { body } = await built(kind, operation)
      expect(body).toBe('{"Name":"x","Id":"mine","ProjectName":"p-1"}')
    }
  })

  test('each retry has a new signature', async () => {
    let time = now
    const aging = ark({ url: 'https://ark.test', ...credentials, clock: { now: () => time } })
    const first = await built(aging, { action: 'GetAsset', id: 'a' })
    time += 60_000
    expect((await built(aging, { action: 'GetAsset', id: 'a' })).headers).not.toEqual(first.headers)
  })

  test('the signed host excludes a default port', async () => {
    const plain = await built(ark({ url: 'https://ark.test', ...credentials, clock: { now: () => now } }), {
      action: 'GetAsset',
      id: 'a',
    })
    expect(
      await built(ark({ url: 'https://ark.test:443/', ...credentials, clock: { now: () => now } }), {
        action: 'GetAsset',
        id: 'a',
      }),
    ).toEqual(plain)
  })
})
