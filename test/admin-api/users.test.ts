import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomUUID } from 'node:crypto'
import { hashToken } from '../../plugins/api-token/index.ts'
import { verifyPassword } from '../../plugins/web-session/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { addUser, type Call, openAdmin } from './fixture.ts'

repeatOnDatabases('the admin API', (database) => {
  let store: Store
  let api: Awaited<ReturnType<typeof openAdmin>>
  let root: Call
  beforeAll(async () => {
    store = await database.open()
    api = await openAdmin(store)
    root = api.with((await addUser(store, 'admin', ['admin'])).token)
  })

  const added = async (fields: object = {}) => {
    const { status, body, text } = await root('POST', '/users', { body: { name: randomUUID(), ...fields } })
    if (status !== 200) throw new Error(text)
    return body.user
  }

  describe('users', () => {
    test('are added with all fields, read, changed and listed', async () => {
      const team = (await root('POST', '/teams', { body: { name: randomUUID() } })).body.team
      const name = randomUUID()
      const limits = [{ unit: 'tokens', amount: 5, window: 'day', model: 'gpt-*' }]
      const fields = { name, role: 'admin', team: team.id, external_id: `x-${name}`, limits }
      const user = await added({ ...fields, password: 'correct horse battery' })
      expect(user).toEqual({
        ...{ id: expect.any(String), name, role: 'admin', team: team.id, team_name: team.name, service: false },
        ...{ external_id: `x-${name}`, created_at: expect.any(String), disabled_at: null, last_active_at: null },
        ...{ login: 'password', limits },
      })
      expect(await verifyPassword('correct horse battery', (await store.userByName(name))?.password)).toBe(true)
      expect((await root('GET', `/users/${user.id}`)).body.user).toEqual(user)
      const renamed = `${name}-2`
      const changes = { name: renamed, role: 'user', team: null, external_id: null, limits: null }
      const changed = await root('PATCH', `/users/${user.id}`, { body: changes })
      expect(changed.body.user).toEqual({ ...user, ...changes, team_name: null })
      const listed = await root('GET', `/users?search=${renamed.toUpperCase()}&role=user&state=enabled`)
      expect(listed.body).toEqual({ success: true, users: [changed.body.user], next_cursor: null })
      expect((await root('PATCH', `/users/${user.id}`, { body: { limits: [] } })).body.user.limits).toEqual([])
    })

    test('cannot be added or changed with fields that are not valid, and then nothing changes', async () => {
      const user = await added({ limits: [] })
      const limits = [
        { unit: 'requests', amount: 1 },
        { unit: 'tokens', amount: 1, window: 'year' },
      ]
      const wrong: readonly (readonly [object | string, string])[] = [
        [{ name: '' }, 'name must have 1 to 128 characters'],
        [{ name: 'a\tb' }, 'no control characters'],
        [{ name: 'a\u0000b' }, 'no control characters'],
        [{ name: 'a\u2028b' }, 'no control characters'],
        [{ name: ' a' }, 'no spaces around it'],
        [{ name: 'a\ud800' }, 'name must have'],
        [{ name: 'x'.repeat(129) }, 'name must have 1 to 128 characters'],
        [{ name: 7 }, 'name must have'],
        [{ role: 'root' }, 'role must be user or admin'],
        [{ team: 'no-team' }, 'there is no such team'],
        [{ team: 7 }, 'team must be an id'],
        [{ password: 'short' }, 'a password has at least 12 characters'],
        [{ password: user.name }, 'a password must not be the name'],
        [{ external_id: '' }, 'external_id must have 1 to 256 characters'],
        [{ limits }, 'limits[1].window must be one of'],
        [{ limits: {} }, 'limits must be a list'],
        [{ limits: [{ unit: 'tokens', amount: 1.5 }] }, 'limits[0].amount must be an integer'],
        [{ limits: [{ unit: 'tokens', amount: -1 }] }, 'limits[0].amount must be an integer'],
        [{ limt: [] }, 'unknown field: the fields are name, '],
        ['{"role":"user","role":"admin"}', 'a field stands twice in the request body'],
        [
          '{"limits":[{"unit":"requests","amount":1,"amount":99,"window":"day"}]}',
          'a field stands twice in the request body',
        ],
        ['[]', 'request body must be a JSON object'],
        ['{', 'request body is '],
      ]
      const { name } = user
      for (const [body, message] of wrong) {
        const answer = await root('PATCH', `/users/${user.id}`, { body })
        expect([body, answer.status, answer.body.error]).toEqual([
          body,
          400,
          { message: expect.stringContaining(message), type: 'request_error' },
        ])
        const create = typeof body === 'string' ? body : { name: `new-${name}`, ...body }
        if (message !== 'a password must not be the name')
          expect([body, (await root('POST', '/users', { body: create })).status]).toEqual([body, 400])
      }
      expect((await root('PATCH', `/users/${user.id}`, { body: { disabled: 'yes' } })).status).toBe(400)
      expect((await root('GET', `/users/${user.id}`)).body.user).toEqual(user)
      expect((await root('GET', `/users?search=new-${name}`)).body.users).toEqual([])
    })

    test('have a name and an external_id of their own, without regard to case', async () => {
      const [one, other] = [await added({ external_id: randomUUID() }), await added()]
      for (const body of [{ name: one.name.toUpperCase() }, { external_id: one.external_id }]) {
        const answers = [
          await root('PATCH', `/users/${other.id}`, { body }),
          await root('POST', '/users', { body: { name: randomUUID(), ...body } }),
        ]
        expect(answers.map(({ status }) => status)).toEqual([409, 409])
      }
    })

    test('are disabled: their tokens end, and an invitation too', async () => {
      const user = await addUser(store, 'user', ['text'])
      const disabled = await root('PATCH', `/users/${user.id}`, { body: { disabled: true } })
      expect(disabled.body.user.disabled_at).toEqual(expect.any(String))
      expect(await store.ownerOf(hashToken(user.token))).toBeUndefined()
      expect((await root('POST', `/users/${user.id}/invitation`)).status).toBe(409)
      expect((await root('GET', `/users?search=${user.name}&state=enabled`)).body.users).toEqual([])
      expect((await root('GET', `/users?search=${user.name}&state=disabled`)).body.users).toHaveLength(1)
      const enabled = await root('PATCH', `/users/${user.id}`, { body: { disabled: false } })
      expect(enabled.body.user.disabled_at).toBeNull()
      expect(await store.ownerOf(hashToken(user.token))).toMatchObject({ user: user.id })
    })

    test('are invited by a link whose secret only its holder has; a new link ends the old one', async () => {
      const { status, body } = await root('POST', '/users', { body: { name: randomUUID(), invite: true } })
      expect(status).toBe(200)
      const { url, expires_at: expiresAt } = body.invitation
      expect(url).toMatch(/^https:\/\/sluice\.example\/console#\/invitation\/[\w-]{43}$/)
      const hours = (Date.parse(expiresAt) - Date.parse(body.user.created_at)) / 3_600_000
      expect(hours).toBeCloseTo(72, 3)
      const hashOf = (link: string) =>
        createHash('sha256')
          .update(link.split('/').at(-1) ?? '')
          .digest('hex')
      expect(await store.invitedUser(hashOf(url), Date.now())).toMatchObject({ user: body.user.id })
      const again = await root('POST', `/users/${body.user.id}/invitation`)
      expect(await store.invitedUser(hashOf(url), Date.now())).toBeUndefined()
      expect(await store.invitedUser(hashOf(again.body.invitation.url), Date.now())).toMatchObject({
        user: body.user.id,
      })
    })

    test('who become admins lose the sessions and the invitation of before', async () => {
      const { body } = await root('POST', '/users', { body: { name: randomUUID(), invite: true } })
      const { id, name } = body.user
      const secret = body.invitation.url.split('/').at(-1) ?? ''
      const hash = createHash('sha256').update(secret).digest('hex')
      const session = { hash: randomUUID(), id: randomUUID(), user: id, name, createdAt: 1, idleUntil: 2 ** 42 }
      const { password } = (await store.userByName(name)) ?? {}
      expect(await store.addSession({ ...session, endsAt: 2 ** 42, password, userAgent: '' }, [], 5)).toBe(true)
      expect((await root('PATCH', `/users/${id}`, { body: { role: 'admin' } })).status).toBe(200)
      expect(await store.session(session.hash)).toBeUndefined()
      expect(await store.invitedUser(hash, Date.now())).toBeUndefined()
      // One who is an admin already keeps a new one.
      const again = await root('POST', `/users/${id}/invitation`)
      expect((await root('PATCH', `/users/${id}`, { body: { role: 'admin' } })).status).toBe(200)
      const kept = createHash('sha256')
        .update(again.body.invitation.url.split('/').at(-1) ?? '')
        .digest('hex')
      expect(await store.invitedUser(kept, Date.now())).toMatchObject({ user: id })
    })

    test('have no name that nobody sees, or that turns around what follows', async () => {
      const zero = randomUUID()
      for (const name of [`${zero}\u200b`, `\u202e${zero}`, '\u200b', '\u200d', `${zero}\ufeff`, `${zero}\u2066x`]) {
        const { status, body } = await root('POST', '/users', { body: { name } })
        expect([name, status, body.error?.message]).toEqual([name, 400, expect.stringContaining('name must have')])
      }
      // Joiners belong to scripts and emoji.
      for (const name of [
        `\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 ${zero}`,
        `\u{1f468}\u200d\u{1f469} ${zero}`,
      ])
        expect((await root('POST', '/users', { body: { name } })).status).toBe(200)
    })

    test('are searched with no NUL, which no database stores', async () => {
      for (const query of ['search=%00', 'team=%00', 'search=a%00b'])
        expect([query, (await root('GET', `/users?${query}`)).status]).toEqual([query, 400])
      for (const path of ['/videos?user=%00', '/usage?model=%00', '/audit?user=%00'])
        expect([path, (await root('GET', path)).status]).toEqual([path, 400])
    })

    test('for a service have tokens, and neither a password nor an invitation', async () => {
      const service = await added({ service: true })
      expect(service).toMatchObject({ service: true, login: 'none' })
      const answers = [
        await root('PATCH', `/users/${service.id}`, { body: { password: 'correct horse battery' } }),
        await root('POST', `/users/${service.id}/invitation`),
        await root('POST', '/users', { body: { name: randomUUID(), service: true, invite: true } }),
        await root('POST', '/users', {
          body: { name: randomUUID(), service: true, password: 'correct horse battery' },
        }),
      ]
      expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409])
      expect((await root('POST', `/users/${service.id}/tokens`, { body: {} })).status).toBe(200)
    })

    test('that do not exist are 404, whatever the id', async () => {
      for (const id of ['none', '%00', '%ff', '%zz', '..%2f..', 'a%2Fb', '%ed%a0%80', 'x'.repeat(2_000)]) {
        const answers = [
          await root('GET', `/users/${id}`),
          await root('PATCH', `/users/${id}`, { body: { role: 'user' } }),
          await root('POST', `/users/${id}/invitation`),
          await root('DELETE', `/users/${id}/sessions`),
          await root('GET', `/users/${id}/limits`),
          await root('GET', `/users/${id}/tokens`),
          await root('POST', `/users/${id}/tokens`, { body: {} }),
          await root('PATCH', `/teams/${id}`, { body: { name: 'x' } }),
          await root('DELETE', `/teams/${id}`),
          await root('PATCH', `/tokens/${id}`, { body: { label: 'x' } }),
          await root('DELETE', `/tokens/${id}`),
          await root('POST', `/tokens/${id}/rotate`),
        ]
        expect([id, answers.map(({ status }) => status)]).toEqual([id, Array(12).fill(404)])
      }
    })
  })

  describe('teams', () => {
    test('are added, listed with their members, changed, and deleted when they are empty', async () => {
      const limits = [{ unit: 'cost', amount: 1.5, window: 'month' }]
      const { team } = (await root('POST', '/teams', { body: { name: randomUUID(), limits } })).body
      expect(team).toMatchObject({ limits, members: 0 })
      const user = await added({ team: team.id })
      const find = async () => {
        const { teams } = (await root('GET', '/teams?limit=200')).body
        return teams.find(({ id }: { id: string }) => id === team.id)
      }
      expect(await find()).toEqual({ ...team, members: 1 })
      expect((await root('DELETE', `/teams/${team.id}`)).status).toBe(409)
      const name = randomUUID()
      const changed = await root('PATCH', `/teams/${team.id}`, { body: { name, limits: null } })
      expect(changed.body.team).toEqual({ ...team, name, limits: null, members: 1 })
      expect((await root('POST', '/teams', { body: { name: name.toUpperCase() } })).status).toBe(409)
      await root('PATCH', `/users/${user.id}`, { body: { team: null } })
      expect((await root('DELETE', `/teams/${team.id}`)).status).toBe(200)
      expect(await find()).toBeUndefined()
    })
  })

  describe('tokens', () => {
    test('are issued with scopes, models, limits and an end, changed and revoked', async () => {
      const user = await added()
      const fields = {
        ...{ label: 'laptop', expires_at: '2099-01-01T00:00:00.000Z', scopes: ['text', 'read'] },
        ...{ models: ['gpt-*'], limits: [{ unit: 'streams', amount: 0 }] },
      }
      const { token } = (await root('POST', `/users/${user.id}/tokens`, { body: fields })).body
      const { token: secret, ...shown } = token
      expect(shown).toEqual({
        ...{ id: expect.any(String), user: user.id, user_name: user.name, start: secret.slice(0, 9), ...fields },
        ...{ created_at: expect.any(String), revoked_at: null, last_used_at: null, old_secret_until: null },
      })
      expect(await store.ownerOf(hashToken(secret))).toMatchObject({ user: user.id, scopes: ['text', 'read'] })
      const changes = { label: null, expires_at: null, scopes: ['media'], models: null, limits: null }
      const changed = (await root('PATCH', `/tokens/${token.id}`, { body: changes })).body.token
      expect(changed).toEqual({ ...shown, ...changes })
      expect((await root('GET', `/users/${user.id}/tokens`)).body).toEqual({
        ...{ success: true, tokens: [changed], next_cursor: null },
      })
      expect((await root('DELETE', `/tokens/${token.id}`)).status).toBe(200)
      expect(await store.ownerOf(hashToken(secret))).toBeUndefined()
      expect((await root('DELETE', `/tokens/${token.id}`)).status).toBe(404)
    })

    test('have the three usual scopes by default', async () => {
      const user = await added()
      for (const body of [undefined, {}, { scopes: null }]) {
        const { token } = (await root('POST', `/users/${user.id}/tokens`, { body })).body
        expect(token.scopes).toEqual(['media', 'text', 'video'])
      }
    })

    test('are rejected with fields that are not valid', async () => {
      const user = await added()
      const { token } = (await root('POST', `/users/${user.id}/tokens`, { body: {} })).body
      for (const [body, message] of [
        [{ scopes: [] }, 'scopes must be a list of one or more of media'],
        [{ scopes: ['everything'] }, 'scopes must be'],
        [{ scopes: 'text' }, 'scopes must be'],
        [{ models: [] }, 'models must be a list of 1 to 100 models'],
        [{ models: ['a*b'] }, 'models[0] must be a model'],
        [{ models: ['a', 'b\n'] }, 'models[1] must be a model'],
        [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at must be in the future'],
        [{ expires_at: '2099-02-30T00:00:00Z' }, 'expires_at must be a date and time'],
        [{ expires_at: '2099-01-01' }, 'expires_at must be a date and time'],
        [{ label: 'a\nb' }, 'label must have'],
        [
          {
            limits: [
              { unit: 'tokens', amount: 1, window: 'day' },
              { unit: 'x', amount: 1 },
            ],
          },
          'limits[1].unit',
        ],
      ] as const) {
        for (const answer of [
          await root('POST', `/users/${user.id}/tokens`, { body }),
          await root('PATCH', `/tokens/${token.id}`, { body }),
        ]) {
          expect([body, answer.status]).toEqual([body, 400])
          expect(answer.body.error.message).toContain(message)
        }
      }
      expect((await root('GET', `/users/${user.id}/tokens`)).body.tokens).toHaveLength(1)
    })

    test('get a new secret under the same id; the old one works for the overlap', async () => {
      const user = await added()
      const { token } = (await root('POST', `/users/${user.id}/tokens`, { body: {} })).body
      const rotated = (await root('POST', `/tokens/${token.id}/rotate`, { body: { overlap_seconds: 60 } })).body.token
      expect(rotated.id).toBe(token.id)
      expect(rotated.token).not.toBe(token.token)
      expect(Date.parse(rotated.old_secret_until)).toBeGreaterThan(Date.now())
      for (const secret of [token.token, rotated.token])
        expect(await store.ownerOf(hashToken(secret))).toMatchObject({ token: token.id })
      const last = (await root('POST', `/tokens/${token.id}/rotate`)).body.token
      for (const secret of [token.token, rotated.token]) expect(await store.ownerOf(hashToken(secret))).toBeUndefined()
      expect(await store.ownerOf(hashToken(last.token))).toMatchObject({ token: token.id })
      for (const seconds of [-1, 604_801, 0.5, '60']) {
        const { status } = await root('POST', `/tokens/${token.id}/rotate`, { body: { overlap_seconds: seconds } })
        expect(status).toBe(400)
      }
    })
  })
})
