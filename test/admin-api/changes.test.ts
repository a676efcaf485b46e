import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { VirtualClock } from '../support/virtual-clock.ts'
import { addUser, type Body, type Call, openAdmin } from './fixture.ts'

repeatOnDatabases('a change by the admin API', (database) => {
  let store: Store
  let api: Awaited<ReturnType<typeof openAdmin>>
  let root: Call
  beforeAll(async () => {
    store = await database.open()
    api = await openAdmin(store)
    root = api.with((await addUser(store, 'admin', ['admin'])).token)
  })

  describe('that creates something, repeated with its Idempotency-Key,', () => {
    const create = (path: string, body: object | undefined, key: string) =>
      root('POST', path, { body, headers: { 'idempotency-key': key } })

    test('creates it once, and shows a secret only the first time', async () => {
      const user = await addUser(store, 'user', ['text'])
      const [path, key] = [`/users/${user.id}/tokens`, randomUUID()]
      const first = await create(path, { label: 'once' }, key)
      const again = await create(path, { label: 'once' }, key)
      const { token: secret, ...token } = first.body.token
      expect(secret).toStartWith('sk-')
      expect(again.body).toEqual({ success: true, token })
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect((await create(path, { label: 'another' }, key)).status).toBe(409)
      const { tokens } = (await root('GET', path)).body
      expect(tokens.filter(({ label }: Body) => label === 'once')).toHaveLength(1)
    })

    test('shows the link of an invitation only the first time', async () => {
      const [body, key] = [{ name: randomUUID(), invite: true }, randomUUID()]
      const first = await create('/users', body, key)
      const again = await create('/users', body, key)
      expect(first.body.invitation.url).toStartWith('https://')
      expect(again.body).toEqual({
        ...{ success: true, user: first.body.user },
        invitation: { url: null, expires_at: first.body.invitation.expires_at },
      })
    })

    test('makes one invitation, and keeps its link valid', async () => {
      const [user, other] = [await addUser(store, 'user', ['text']), await addUser(store, 'user', ['text'])]
      const key = randomUUID()
      const first = await create(`/users/${user.id}/invitation`, undefined, key)
      const again = await create(`/users/${user.id}/invitation`, undefined, key)
      const { url, expires_at } = first.body.invitation
      expect([first.status, url]).toEqual([200, expect.stringMatching(/^https:/)])
      expect([again.status, again.body]).toEqual([200, { success: true, invitation: { url: null, expires_at } }])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      const hash = createHash('sha256').update(url.split('/').at(-1)).digest('hex')
      expect(await store.invitedUser(hash, Date.now())).toMatchObject({ user: user.id })
      // A key is one of its route only.
      const another = await create(`/users/${other.id}/invitation`, undefined, key)
      expect(another.body.invitation.url).toStartWith('https:')
      expect((await create(`/users/${randomUUID()}/invitation`, undefined, randomUUID())).status).toBe(404)
    })

    test('of many at once creates one team', async () => {
      const [body, key] = [{ name: randomUUID() }, randomUUID()]
      const answers = await Promise.all(Array.from({ length: 5 }, () => create('/teams', body, key)))
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
      expect((await create('/teams', body, key)).status).toBe(200)
      expect((await create('/teams', body, randomUUID())).status).toBe(409)
    })

    test('is answered after the death of its process with what that has made', async () => {
      const clock = new VirtualClock(1, Date.now())
      const [caller, user] = [await addUser(store, 'admin', ['admin']), await addUser(store, 'user', ['text'])]
      const keep = () => Promise.reject(new Error('killed'))
      const dying = (await openAdmin(store, { clock, idempotency: { ...store.idempotency, keep } })).with(caller.token)
      const other = await openAdmin(store, { clock })
      const alive = other.with(caller.token)
      const made = [
        ['/users', { name: randomUUID(), invite: true }, 'user'],
        ['/teams', { name: randomUUID() }, 'team'],
        [`/users/${user.id}/tokens`, { label: 'found' }, 'token'],
      ] as const
      for (const [path, body, kind] of made) {
        const request = { body, headers: { 'idempotency-key': randomUUID() } }
        const { body: first } = await dying('POST', path, request)
        expect(await alive('POST', path, request)).toMatchObject({ status: 409 })
        await clock.pass(15_000)
        const { token, ...found } = first[kind]
        expect(kind === 'token').toBe(token !== undefined)
        const { invitation } = first
        const expected = {
          ...{ success: true, [kind]: found },
          ...(invitation && { invitation: { url: null, expires_at: invitation.expires_at } }),
        }
        expect((await alive('POST', path, request)).body).toEqual(expected)
        expect((await alive('POST', path, request)).body).toEqual(expected)
        // The other process may have died before it has recorded it.
        expect(other.events.filter(({ action }) => action === `${kind}.create`)).toMatchObject([
          { target: { kind, id: found.id } },
        ])
      }
    })

    test('is handled again once it is certain that it has made nothing', async () => {
      const clock = new VirtualClock(1, Date.now())
      const caller = (await addUser(store, 'admin', ['admin'])).token
      let isLost = true
      const addTeam: Store['addTeam'] = (team) =>
        isLost ? Promise.reject(new Error('no answer of the database')) : store.addTeam(team)
      const call = (await openAdmin({ ...store, addTeam }, { clock })).with(caller)
      const request = { body: { name: randomUUID() }, headers: { 'idempotency-key': randomUUID() } }
      expect((await call('POST', '/teams', request)).status).toBe(500)
      isLost = false
      const early = await call('POST', '/teams', request)
      expect([early.status, early.headers.get('retry-after')]).toEqual([503, '15'])
      await clock.pass(15_000)
      expect(await call('POST', '/teams', request)).toMatchObject({ status: 200, body: { team: request.body } })
    })

    test('that was rejected can be corrected under the same key', async () => {
      const key = randomUUID()
      expect((await create('/teams', { name: '' }, key)).status).toBe(400)
      expect((await create('/teams', { name: randomUUID() }, key)).status).toBe(200)
    })
  })

  test('is in the audit trail with the names of its fields, before the response, and so are reads', async () => {
    const eventsOf = async (work: () => Promise<unknown>) => {
      const before = api.events.length
      await work()
      return api.events
        .slice(before)
        .map(({ action, target, fields }) => ({ action, kind: target?.kind, id: target?.id, fields }))
    }
    let [user, team, token] = ['', '', '']
    const password = 'correct horse battery'
    expect(
      await eventsOf(async () => {
        const body = { name: randomUUID(), limits: [], password, team: null }
        user = (await root('POST', '/users', { body })).body.user.id
      }),
    ).toEqual([{ action: 'user.create', kind: 'user', id: user, fields: ['name', 'password', 'limits'] }])
    const change = { disabled: true, password, name: randomUUID(), limits: null }
    expect(await eventsOf(() => root('PATCH', `/users/${user}`, { body: change }))).toEqual([
      { action: 'user.disable', kind: 'user', id: user, fields: ['disabled'] },
      { action: 'user.password', kind: 'user', id: user, fields: ['password'] },
      { action: 'user.update', kind: 'user', id: user, fields: ['name', 'limits'] },
    ])
    expect(await eventsOf(() => root('PATCH', `/users/${user}`, { body: { disabled: false } }))).toMatchObject([
      { action: 'user.enable', id: user },
    ])
    expect(await eventsOf(() => root('POST', `/users/${user}/invitation`))).toMatchObject([
      { action: 'user.invite', id: user },
    ])
    expect(await eventsOf(() => root('DELETE', `/users/${user}/sessions`))).toMatchObject([
      { action: 'user.logout', id: user },
    ])
    expect(
      await eventsOf(async () => {
        team = (await root('POST', '/teams', { body: { name: randomUUID() } })).body.team.id
        await root('PATCH', `/teams/${team}`, { body: { limits: [] } })
        await root('DELETE', `/teams/${team}`)
      }),
    ).toEqual([
      { action: 'team.create', kind: 'team', id: team, fields: ['name'] },
      { action: 'team.update', kind: 'team', id: team, fields: ['limits'] },
      { action: 'team.delete', kind: 'team', id: team, fields: undefined },
    ])
    expect(
      await eventsOf(async () => {
        token = (await root('POST', `/users/${user}/tokens`, { body: { scopes: ['text'] } })).body.token.id
        await root('PATCH', `/tokens/${token}`, { body: { models: null } })
        await root('POST', `/tokens/${token}/rotate`)
        await root('DELETE', `/tokens/${token}`)
      }),
    ).toEqual([
      { action: 'token.create', kind: 'token', id: token, fields: ['scopes'] },
      { action: 'token.update', kind: 'token', id: token, fields: ['models'] },
      { action: 'token.rotate', kind: 'token', id: token, fields: undefined },
      { action: 'token.revoke', kind: 'token', id: token, fields: undefined },
    ])
    for (const [path, kind, id] of [
      ['/users', 'users', undefined],
      [`/users/${user}`, 'user', user],
      [`/users/${user}/limits`, 'user', user],
      [`/users/${user}/tokens`, 'tokens', user],
      ['/teams', 'teams', undefined],
      ['/usage', 'usage', undefined],
      [`/usage?user=${user}`, 'usage', user],
      ['/audit', 'audit', undefined],
      ['/groups/pending', 'groups', undefined],
    ])
      expect(await eventsOf(() => root('GET', String(path)))).toMatchObject([{ action: 'admin.read', kind, id }])
    expect(JSON.stringify(api.events)).not.toContain(password)
    // What was rejected has changed nothing.
    expect(await eventsOf(() => root('PATCH', `/users/${user}`, { body: { limits: {} } }))).toEqual([])
  })

  test('is not answered when it cannot be recorded', async () => {
    const broken = await openAdmin(store, {
      audit: { note: () => {}, record: () => Promise.reject(new Error('the disk is full')) },
    })
    const call = broken.with((await addUser(store, 'admin', ['admin'])).token)
    const user = await addUser(store, 'user', ['text'])
    const { status, text } = await call('POST', `/users/${user.id}/tokens`, { body: {} })
    expect(status).toBe(500)
    expect(text).not.toContain('sk-')
    expect(text).not.toContain('disk')
  })

  describe('of pending groups', () => {
    const claim = async (more: object = {}) => {
      const user = await addUser(store, 'user', ['media'])
      const name = randomUUID()
      const found = await store.claim({ user: user.id, type: 'AIGC', name, createdAt: 1, dueAt: 2, ...more })
      return { id: found?.id ?? '', user, name }
    }

    test('lists, adopts and releases them', async () => {
      const [first, second] = [await claim(), await claim()]
      const { pending } = (await root('GET', '/groups/pending?limit=200')).body
      expect(pending).toContainEqual({
        ...{ id: first.id, user: first.user.id, user_name: first.user.name, type: 'AIGC', name: first.name },
        ...{ state: 'pending', renames: null, account: null, group: null },
        ...{ created_at: '1970-01-01T00:00:00.001Z', due_at: '1970-01-01T00:00:00.002Z' },
      })
      const group = `group-${randomUUID()}`
      const body = { user: first.user.id, group_id: group }
      expect((await root('POST', `/groups/pending/${first.id}/adopt`, { body })).status).toBe(200)
      expect(await store.group(group)).toMatchObject({ user: first.user.id, name: first.name, type: 'AIGC' })
      expect((await root('POST', `/groups/pending/${first.id}/adopt`, { body })).status).toBe(404)
      expect((await root('POST', `/groups/pending/${second.id}/adopt`, { body })).status).toBe(409)
      expect((await root('POST', `/groups/pending/${second.id}/release`)).status).toBe(200)
      expect((await root('POST', `/groups/pending/${second.id}/release`)).status).toBe(404)
    })

    test('gives a group to another user, and rejects what cannot be', async () => {
      const [one, other] = [await claim(), await addUser(store, 'user', ['media'])]
      const adopt = (body: object, id = one.id) => root('POST', `/groups/pending/${id}/adopt`, { body })
      expect((await adopt({ user: 'nobody', group_id: 'g' })).status).toBe(400)
      for (const id of ['', 'a b', 'a/b', '..', 'a,b', 7, undefined])
        expect((await adopt({ user: other.id, group_id: id })).status).toBe(400)
      const renaming = await claim({ renames: 'group-0' })
      expect((await adopt({ user: renaming.user.id, group_id: 'g' }, renaming.id)).status).toBe(409)
      const group = `group-${randomUUID()}`
      expect((await adopt({ user: other.id, group_id: group })).status).toBe(200)
      expect(await store.group(group)).toMatchObject({ user: other.id })
    })
  })
})
