import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adoptFace, type Fixture, ids, messageOf, newAsset, newGroup, openFixture, repeatedKinds } from './fixture.ts'

const furnished = async (options: Parameters<typeof openFixture>[0]) => {
  // The URLs in responses are signed with the current time.
  const now = Date.now()
  const fixture = await openFixture({ ...options, emulator: { clock: () => now } })
  const { ann } = fixture
  const groups = [await newGroup(ann, 'a'), await newGroup(ann, 'b'), await newGroup(ann, 'c')]
  const face = await adoptFace(fixture, ann, 'a')
  for (const group of groups) for (const Name of ['x', 'y', 'xy']) await newAsset(ann, group, { Name })
  await newAsset(ann, face, { GroupType: 'LivenessFace', Name: 'x' })
  return { ...fixture, groups, face }
}

/** Opens a fixture for all tests of a suite. It is available in tests. */
const sharedFixture = (open: () => ReturnType<typeof openFixture>) => {
  let fixture: Awaited<ReturnType<typeof openFixture>> | undefined
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())
  return () => {
    if (!fixture) throw new Error('the fixture is available in tests')
    return fixture
  }
}

/** Items, TotalCount and NextToken, without the request id, which differs between calls. */
const result = async (fixture: Fixture, path: string, body?: unknown, headers?: Record<string, string>) => {
  const reply = await fixture.ann.ask('GET', path, body, headers)
  expect(reply.status).toBe(200)
  return reply.json.Result
}

describe.each(repeatedKinds)('with an upstream of kind $kind', ({ kindOf }) => {
  describe.each(['/assets', '/assets/groups'])('%s', (path) => {
    test('a JSON body has the same effect as the query', async () => {
      const routes = await furnished({ kindOf })
      await using _ = routes
      const [a, b] = routes.groups
      const token = (await result(routes, `${path}?PageSize=1`)).NextToken
      const pairs: [string, unknown][] = [
        ['', {}],
        ['', { Filter: {} }],
        ['PageNumber=2&PageSize=2', { PageNumber: 2, PageSize: 2 }],
        ['PageNumber=2&PageSize=2', { PageNumber: '2', PageSize: '2' }],
        [`GroupIds=${a},${b}`, { Filter: { GroupIds: [a, b] } }],
        [`GroupIds=${a}&GroupIds=${b}&SortOrder=Asc`, { Filter: { GroupIds: [a, '', b, a] }, SortOrder: 'Asc' }],
        ['GroupType=LivenessFace', { Filter: { GroupType: 'LivenessFace' } }],
        ['Name=x', { Filter: { Name: 'x' } }],
        ['Name=a', { Filter: { Name: 'a', GroupType: '', GroupIds: [], Statuses: null } }],
        ['Statuses=Active,Failed', { Filter: { Statuses: ['Active', 'Failed'] } }],
        ['SortBy=UpdateTime&SortOrder=Asc', { SortBy: 'UpdateTime', SortOrder: 'Asc' }],
        ['SortBy=UpdateTime&SortOrder=Asc', { Filter: { SortBy: 'UpdateTime', SortOrder: 'Asc' } }],
        ['MaxResults=2', { MaxResults: 2 }],
        ['MaxResults=2', { Filter: { MaxResults: 2 } }],
        ['MaxResults=2&PageSize=1', { MaxResults: 2, PageSize: 1 }],
        [`NextToken=${token}`, { NextToken: token }],
        [`NextToken=${token}&PageNumber=7`, { Filter: { NextToken: token }, PageNumber: 7 }],
        ['', { ProjectName: 'mine', Filter: { ProjectName: 'mine', Unknown: {} }, Unknown: [] }],
      ]
      for (const [query, body] of pairs) {
        expect(await result(routes, path, body)).toEqual(await result(routes, `${path}?${query}`))
      }
    })

    test('the query has priority, for each parameter', async () => {
      const routes = await furnished({ kindOf })
      await using _ = routes
      const [a, b] = routes.groups
      const body = { Filter: { GroupIds: [a], Name: 'x', GroupType: 'LivenessFace' }, PageSize: 1, PageNumber: 2 }
      const query = `GroupIds=${b}&GroupType=AIGC&Name=&PageSize=5`
      const merged = await result(routes, `${path}?GroupIds=${b}&GroupType=AIGC&Name=x&PageSize=5&PageNumber=2`)
      expect(await result(routes, `${path}?${query}`, body)).toEqual(merged)
    })

    test('foreign GroupIds in a body are rejected, also when the query overrides them', async () => {
      await using fixture = await openFixture({ kindOf })
      const own = await newGroup(fixture.ann, 'a')
      const foreign = await newGroup(fixture.bob, 'a')
      fixture.calls()
      for (const GroupIds of [[foreign], [own, foreign], [`${own},${foreign}`], ['..'], ['*']]) {
        expect((await fixture.ann.ask('GET', path, { Filter: { GroupIds } })).status).toBe(403)
        expect((await fixture.ann.ask('GET', `${path}?GroupIds=`, { Filter: { GroupIds } })).status).toBe(403)
      }
      expect(fixture.calls()).toEqual([])
      expect(
        (await fixture.ann.ask('GET', `${path}?GroupIds=${own}`, { Filter: { GroupIds: [foreign] } })).status,
      ).toBe(200)
    })

    describe('a malformed body', () => {
      // No request changes anything, so all use one gateway.
      const opened = sharedFixture(async () => {
        const fixture = await openFixture({ kindOf })
        await newGroup(fixture.ann, 'a')
        return fixture
      })

      test.each([
        ...[
          '{',
          'x',
          '{"Filter":}',
          '\ufeff{}',
          '[]',
          '7',
          'null',
          '"a"',
          '{"a":1}{}',
          `${'['.repeat(65)}${']'.repeat(65)}`,
        ],
        ...['{"Filter":[]}', '{"Filter":7}', '{"Filter":{"GroupIds":"a"}}', '{"Filter":{"GroupIds":[7]}}'],
        ...[
          '{"Filter":{"Name":7}}',
          '{"Filter":{"Name":["a"]}}',
          '{"PageSize":true}',
          '{"PageSize":1.5}',
          '{"PageSize":[1]}',
        ],
        ...['{"PageSize":0}', '{"PageSize":101}', '{"PageNumber":0}', '{"NextToken":7}', '{"SortBy":{}}'],
        ...[
          '{"Filter":{"GroupIds":[],"GroupIds":["a"]}}',
          '{"Filter":{},"Filter":{"Name":"a"}}',
          '{"PageSize":1,"PageSize":2}',
        ],
      ])('%s as a body is 400', async (body) => {
        const fixture = opened()
        fixture.calls()
        const reply = await fixture.ann.ask('GET', path, body)
        expect(reply.status).toBe(400)
        messageOf(reply)
        expect(fixture.calls()).toEqual([])
      })
    })

    test('a body of another content type and an empty body are ignored', async () => {
      const routes = await furnished({ kindOf })
      await using _ = routes
      const all = await result(routes, path)
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
        expect(await result(routes, path, '{"PageSize":0}', { 'content-type': type })).toEqual(all)
      }
      for (const type of ['application/json', 'APPLICATION/JSON; charset=utf-8', ' application/json ;a=b']) {
        expect(await result(routes, path, '', { 'content-type': type })).toEqual(all)
        expect((await routes.ann.ask('GET', path, '{"PageSize":0}', { 'content-type': type })).status).toBe(400)
      }
    })

    test('a body that is too large is 413', async () => {
      await using fixture = await openFixture({ kindOf, maxBodyBytes: 1_000 })
      const reply = await fixture.ann.ask('GET', path, `{"a":"${'x'.repeat(1_000)}"}`)
      expect(reply.status).toBe(413)
      messageOf(reply)
    })
  })
})

test('a body in several chunks is read', async () => {
  await using fixture = await openFixture()
  const [a] = [await newGroup(fixture.ann, 'a'), await newGroup(fixture.ann, 'b')]
  const { request } = await import('node:http')
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${fixture.ann.token}`, 'content-type': 'application/json' }
    const asked = request(`${fixture.url}/api/media/proxy/assets/groups`, { headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.setHeader('transfer-encoding', 'chunked')
    for (const piece of ['{"Filter":', '{"Name"', ':"a"}}']) asked.write(piece)
    asked.end()
  })
  const { Items } = JSON.parse(text).Result
  expect(Items.map((item: { Id: string }) => item.Id)).toEqual([a])
  expect(ids(await fixture.ann.ask('GET', '/assets/groups?Name=a'))).toEqual([a ?? ''])
})
