import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { addUser, type Body, type Call, openAdmin } from './fixture.ts'

repeatOnDatabases('the lists of the admin API', (database) => {
  let store: Store
  let root: Call
  let other: Call
  let events: readonly AuditEvent[]
  const prefix = randomUUID()
  beforeAll(async () => {
    store = await database.open()
    const api = await openAdmin(store)
    events = api.events
    root = api.with((await addUser(store, 'admin', ['admin'])).token)
    other = api.with((await addUser(store, 'admin', ['admin'])).token)
    for (let nth = 0; nth < 7; nth++) await store.addAdminUser({ name: `${prefix}-${nth}`, createdAt: nth })
  })

  const walk = async (path: string, key: string) => {
    const found: Body[] = []
    for (let cursor = '', pages = 0; pages < 100; pages++) {
      const { status, body, text } = await root('GET', `${path}${cursor && `&cursor=${cursor}`}`)
      if (status !== 200) throw new Error(text)
      found.push(...body[key])
      if (body.next_cursor === null) return found
      cursor = body.next_cursor
    }
    throw new Error('the walk does not end')
  }

  test.each([1, 2, 3, 7, 200])('have each item once, with %d on a page', async (limit) => {
    const names = (await walk(`/users?search=${prefix}&limit=${limit}`, 'users')).map(({ name }) => name)
    expect(names.sort()).toEqual(Array.from({ length: 7 }, (_, nth) => `${prefix}-${nth}`))
  })

  test('have 50 items on a page by default, and 200 at most', async () => {
    for (let nth = 0; nth < 51; nth++) await store.addTeam({ name: `${prefix}-${nth}`, createdAt: nth })
    expect((await root('GET', '/teams')).body.teams).toHaveLength(50)
    for (const limit of ['0', '201', '-1', '1.5', 'ten', '1e2', '+5', ' 5', '0x10']) {
      const { status, body } = await root('GET', `/teams?limit=${encodeURIComponent(limit)}`)
      expect([limit, status, body.error?.message]).toEqual([limit, 400, 'limit must be an integer from 1 to 200'])
    }
    expect((await root('GET', '/teams?limit=200')).body.teams.length).toBeGreaterThan(50)
  })

  describe('a cursor', () => {
    const first = async () => (await root('GET', `/users?search=${prefix}&limit=2`)).body.next_cursor as string

    test('works for every admin, with another page size', async () => {
      const page = await other('GET', `/users?search=${prefix}&limit=3&cursor=${await first()}`)
      expect(page.body.users).toHaveLength(3)
    })

    test('of another list, with other filters, or changed, is rejected', async () => {
      const cursor = await first()
      const changed = `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`
      for (const path of [
        `/teams?cursor=${cursor}`,
        `/users?cursor=${cursor}`,
        `/users?search=${prefix}&state=enabled&cursor=${cursor}`,
        `/users?search=${prefix}x&cursor=${cursor}`,
        `/audit?cursor=${cursor}`,
        `/usage?cursor=${cursor}`,
        `/users?search=${prefix}&cursor=${changed}`,
        `/users?search=${prefix}&cursor=${cursor}A`,
        `/users?search=${prefix}&cursor=${cursor.slice(1)}`,
        `/users?search=${prefix}&cursor=${btoa('{"key":0,"id":""}')}`,
        `/users?search=${prefix}&cursor=${'A'.repeat(9_000)}`,
      ]) {
        const { status, body } = await root('GET', path)
        expect([path, status, body.error.message]).toEqual([path, 400, 'cursor is not one of this list'])
      }
    })

    test('does not show what it holds of other lists, and is one of tokens of one user only', async () => {
      const [ann, bob] = [await addUser(store, 'user', ['text']), await addUser(store, 'user', ['text'])]
      await root('POST', `/users/${ann.id}/tokens`, { body: {} })
      const cursor = (await root('GET', `/users/${ann.id}/tokens?limit=1`)).body.next_cursor
      expect((await root('GET', `/users/${ann.id}/tokens?cursor=${cursor}`)).body.tokens).toHaveLength(1)
      expect((await root('GET', `/users/${bob.id}/tokens?cursor=${cursor}`)).status).toBe(400)
    })
  })

  describe('the tokens of all users', () => {
    const labelsOf = async (query: string) =>
      (await walk(`/tokens?${new URLSearchParams(query)}&limit=1`, 'tokens')).map(({ label }) => label)

    test('are found by label, beginning, user, state and last use, and name their user', async () => {
      const [ann, bob] = [await addUser(store, 'user', ['text']), await addUser(store, 'admin', ['text'])]
      const add = async (user: string, fields: object) =>
        (await root('POST', `/users/${user}/tokens`, { body: fields })).body.token
      const first = await add(ann.id, { label: `${prefix} Laptop` })
      const second = await add(bob.id, { label: `${prefix} ci`, scopes: ['admin'] })
      await root('DELETE', `/tokens/${second.id}`)
      expect(await labelsOf(`search=${prefix}`)).toEqual([`${prefix} Laptop`, `${prefix} ci`])
      expect(await labelsOf(`search=${prefix} LAP`)).toEqual([`${prefix} Laptop`])
      // A whole token: the server knows its first characters only.
      for (const search of [first.token, first.start, first.token.slice(0, 8).toUpperCase()])
        expect(await labelsOf(`search=${search}`)).toEqual([`${prefix} Laptop`])
      expect(await labelsOf(`search=${prefix}&user=${bob.id}`)).toEqual([`${prefix} ci`])
      expect(await labelsOf(`search=${prefix}&state=revoked`)).toEqual([`${prefix} ci`])
      expect(await labelsOf(`search=${prefix}&state=valid`)).toEqual([`${prefix} Laptop`])
      expect(await labelsOf(`search=${prefix}&unused_since=2026-01-31`)).toHaveLength(2)
      expect(await labelsOf(`search=${prefix}&used_since=2026-01-31T00:00:00Z`)).toEqual([])
      const [token] = await walk(`/tokens?search=${first.start}`, 'tokens')
      const { token: _, ...shown } = first
      expect(token).toEqual({ ...shown, user: ann.id, user_name: ann.name })
    })

    test('are rejected with a filter that is not valid, and a cursor of the tokens of one user', async () => {
      for (const query of ['state=enabled', 'used_since=today', 'unused_since=2026-02-30', 'label=a', 'search=a%00'])
        expect([query, (await root('GET', `/tokens?${query}`)).status]).toEqual([query, 400])
      const ann = await addUser(store, 'user', ['text'])
      await root('POST', `/users/${ann.id}/tokens`, { body: {} })
      const { next_cursor: cursor } = (await root('GET', `/users/${ann.id}/tokens?limit=1`)).body
      expect((await root('GET', `/tokens?user=${ann.id}&cursor=${cursor}`)).status).toBe(400)
    })

    test('are in the audit trail when somebody reads them', async () => {
      await root('GET', '/tokens')
      expect(events.at(-1)).toEqual({ action: 'admin.read', target: { kind: 'tokens', id: undefined } })
      await root('GET', '/tokens?user=somebody')
      expect(events.at(-1)).toEqual({ action: 'admin.read', target: { kind: 'tokens', id: 'somebody' } })
    })
  })

  test('reject unknown and repeated parameters', async () => {
    for (const path of [
      '/users?serach=a',
      '/users?role=user&role=admin',
      '/teams?name=a',
      '/audit?name=a',
      '/usage?by=a',
    ])
      expect([path, (await root('GET', path)).status]).toEqual([path, 400])
    for (const path of ['/users?role=root', '/users?state=on', '/audit?action=none', '/audit?since=yesterday'])
      expect([path, (await root('GET', path)).status]).toEqual([path, 400])
  })

  describe('usage', () => {
    const user = randomUUID()
    const rows = (query: string) => walk(`/usage?user=${user}&${query}&limit=2`, 'rows')
    beforeAll(async () => {
      const call = { user, token: 'a-token', tokens: { input: 10, cachedInput: 2, output: 5, reasoning: 1 } }
      for (const [model, day, cost] of [
        ['gpt-1', 1, 1_500_000_000],
        ['gpt-1', 2, undefined],
        ['gpt-1', 2, 2],
        ['=2+3', 2, undefined],
      ] as const)
        store.recordUsage({ ...call, model, cost, at: Date.UTC(2026, 2, day) })
    })

    test('is summed by what group_by names', async () => {
      const sums = { unreported: 0, cached_tokens: 2, reasoning_tokens: 1, input_tokens: 10, output_tokens: 5 }
      const twice = { unreported: 0, cached_tokens: 4, reasoning_tokens: 2, input_tokens: 20, output_tokens: 10 }
      expect(await rows('group_by=day,model')).toEqual([
        { day: '2026-03-01', model: 'gpt-1', calls: 1, ...sums, video_seconds: null, cost: 1.5 },
        { day: '2026-03-02', model: '=2+3', calls: 1, ...sums, video_seconds: null, cost: null },
        { day: '2026-03-02', model: 'gpt-1', calls: 2, ...twice, video_seconds: null, cost: 0.000000002 },
      ])
      expect(await rows('group_by=model&since=2026-03-02&until=2026-03-02')).toMatchObject([
        { model: '=2+3', calls: 1 },
        { model: 'gpt-1', calls: 2 },
      ])
      expect(await rows('group_by=')).toMatchObject([{ calls: 4, input_tokens: 40 }])
      expect(Object.keys((await rows('group_by='))[0])).not.toContain('user')
      const whole = { user, user_name: null, team: null, team_name: null, token: 'a-token', token_name: null }
      expect((await rows(''))[0]).toMatchObject({ day: '2026-03-01', ...whole, token_start: null, model: 'gpt-1' })
      expect(await rows('kind=video')).toEqual([])
      expect(await rows('kind=text&group_by=user')).toMatchObject([{ calls: 4 }])
    })

    test('is a file of CSV, which no spreadsheet runs', async () => {
      const { status, headers, text } = await root('GET', `/usage?user=${user}&group_by=day,model&format=csv`)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(text.split('\r\n')).toEqual([
        'day,model,calls,unreported,input_tokens,cached_tokens,output_tokens,reasoning_tokens,video_seconds,cost',
        '2026-03-01,gpt-1,1,0,10,2,5,1,,1.5',
        "2026-03-02,'=2+3,1,0,10,2,5,1,,",
        '2026-03-02,gpt-1,2,0,20,4,10,2,,0.000000002',
        '',
      ])
    })

    test('is rejected with parameters that are not valid', async () => {
      for (const query of [
        ...['since=2026-02-30', 'until=tomorrow', 'since=2026-03-02&until=2026-03-01', 'kind=audio', 'format=xml'],
        ...['group_by=hour', 'group_by=day,name', 'group_by=DAY'],
      ])
        expect([query, (await root('GET', `/usage?${query}`)).status]).toEqual([query, 400])
    })
  })
})
