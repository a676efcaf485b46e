import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { ActivityView } from '../../plugins/admin/index.ts'
import { printAudit } from '../../src/admin/audit.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { addUser, type Call, openAdmin } from './fixture.ts'

const activity: ActivityView = {
  at: '2026-01-31T10:00:00.000Z',
  last_minute: { requests: 3, rejected: 1, errors: 0 },
  hours: [{ at: '2026-01-31T10:00:00.000Z', requests: 3, rejected: 1, errors: 0 }],
  days: [{ day: '2026-01-31', requests: 3, rejected: 1, errors: 0, videos: { failed: 1 } }],
  videos: { running: 1, waiting: 2 },
}

repeatOnDatabases('the admin API', (database) => {
  let store: Store
  let root: Call
  let rootId: string
  let events: Awaited<ReturnType<typeof openAdmin>>['events']
  let bare: Call
  beforeAll(async () => {
    store = await database.open()
    const admin = await addUser(store, 'admin', ['admin'])
    const api = await openAdmin(store, {
      activity: () => activity,
      alerts: () => ({
        alerts: [
          {
            ...{ name: 'SluiceBusy', severity: 'warning', state: 'firing', since: '2026-01-31T09:00:00.000Z' },
            ...{ labels: {}, value: 0.5 },
          },
        ],
        not_evaluated: ['SluiceDown'],
      }),
    })
    root = api.with(admin.token)
    rootId = admin.id
    events = api.events
    bare = (await openAdmin(store)).with(admin.token)
  })

  test('shows what the server has done lately, and its alerts', async () => {
    expect((await root('GET', '/activity')).body).toEqual({ success: true, activity })
    const { body } = await root('GET', '/alerts')
    expect(body).toMatchObject({ success: true, alerts: [{ name: 'SluiceBusy' }], not_evaluated: ['SluiceDown'] })
    expect((await bare('GET', '/activity')).status).toBe(404)
    expect((await bare('GET', '/alerts')).body).toEqual({ success: true, alerts: [], not_evaluated: [] })
  })

  describe('verifies the audit trail', () => {
    const verify = (query = '') => root('GET', `/audit/verification${query}`)

    test('also against an earlier head', async () => {
      await store.recordAudit([{ id: randomUUID(), at: Date.now(), action: 'user.logout', times: 1 }])
      const { verification } = (await verify()).body
      expect(verification).toMatchObject({ problems: [], first: 1, removed: 0, without_hmac: 0 })
      expect(verification.head).toBe(`${verification.verified}:${verification.head.split(':')[1]}`)
      expect((await verify(`?head=${verification.head}`)).body.verification.problems).toEqual([])
      const changed = verification.head.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))
      expect((await verify(`?head=${changed}`)).body.verification.problems).not.toEqual([])
    })

    test('and rejects what is no head', async () => {
      for (const head of ['1', 'a:b', `1:${'0'.repeat(63)}`])
        expect([head, (await verify(`?head=${head}`)).status]).toEqual([head, 400])
    })

    test('or an exported file, whatever parts its lines arrive in', async () => {
      const lines: string[] = []
      await printAudit(store, {}, (line) => lines.push(line))
      const send = (body: string, query = '', type = 'application/x-ndjson') =>
        root('POST', `/audit/verification${query}`, { body, headers: { 'content-type': type } })
      const old = JSON.stringify({ at: '2020-01-31T10:00:00.000Z', action: 'user.logout', times: 1 })
      const file = `${[...Array(1_500).fill(old), ...lines].join('\n')}\n`
      const { verification } = (await send(file)).body
      expect(verification).toMatchObject({ problems: [], verified: lines.length, first: 1, without_hmac: 1_500 })
      expect((await send(file, `?head=${verification.head}`)).body.verification.problems).toEqual([])
      expect(
        (await send(lines.slice(0, -1).join('\n'), `?head=${verification.head}`)).body.verification.problems,
      ).toEqual([`entry ${lines.length} of the given head is missing: the end of the chain was cut off`])
      const forged = lines.join('\n').replace('user.logout', 'user.create')
      expect((await send(forged)).body.verification.problems).toHaveLength(1)
      expect((await send('no entry\n')).body.verification.problems).toEqual([
        'line 1 is not an entry of the audit trail',
      ])
      expect((await send(file, '', 'text/plain')).status).toBe(415)
      expect((await send('x'.repeat(70_000))).body.error.message).toBe('the file has a line that is too long')
      expect((await send('x'.repeat(16_777_217))).status).toBe(413)
      expect((await bare('POST', '/audit/verification', {})).status).toBe(415)
    })

    test('once at a time', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const slow = await openAdmin({
        ...store,
        async verifyAudit(options) {
          begun.resolve()
          await promise
          return store.verifyAudit(options)
        },
      })
      const call = slow.with((await addUser(store, 'admin', ['admin'])).token)
      const first = call('GET', '/audit/verification')
      await begun.promise
      expect((await call('GET', '/audit/verification')).status).toBe(409)
      resolve()
      expect((await first).status).toBe(200)
      expect((await call('GET', '/audit/verification')).status).toBe(200)
    })
  })

  describe('gives a group of the upstream to a user', () => {
    const give = (body: object) => root('POST', '/groups/adopt', { body })

    test('who then owns it', async () => {
      const [user, other] = [await addUser(store, 'user', ['media']), await addUser(store, 'user', ['media'])]
      const [id, another] = [`group-${randomUUID()}`, `group-${randomUUID()}`]
      const group = { user: user.id, group_id: id, type: 'AIGC', name: 'cats' }
      expect((await give(group)).body).toEqual({ success: true })
      expect(await store.group(id)).toMatchObject({ user: user.id, type: 'AIGC', name: 'cats' })
      expect(events.at(-1)).toEqual({ action: 'group.adopt', target: { kind: 'group', id } })
      expect((await give({ ...group, user: other.id })).status).toBe(409)
      expect((await give({ ...group, group_id: another })).status).toBe(409)
      expect((await give({ ...group, group_id: another, type: 'LivenessFace' })).status).toBe(200)
      expect(await store.group(id)).toMatchObject({ user: user.id })
    })

    test('and rejects other fields and values', async () => {
      const good = { user: rootId, group_id: 'g', type: 'AIGC', name: 'cats' }
      for (const wrong of [
        ...[{ user: 'nobody' }, { group_id: 'a b' }, { type: 'Group' }, { name: '' }, { name: 'x'.repeat(65) }],
        { description: 'more' },
      ])
        expect([wrong, (await give({ ...good, ...wrong })).status]).toEqual([wrong, 400])
    })
  })

  describe('imports users', () => {
    const send = (csv: string, headers: Record<string, string> = {}) =>
      root('POST', '/users/import', { body: csv, headers: { 'content-type': 'text/csv; charset=utf-8', ...headers } })

    test('of a CSV file, once with the same Idempotency-Key, and records each', async () => {
      const [name, key] = [randomUUID(), randomUUID()]
      const csv = `name,role\n${name}-1,\n${name}-2,admin\n`
      const before = events.length
      const first = await send(csv, { 'idempotency-key': key })
      expect(first.body.users.map((user: { name: string }) => user.name)).toEqual([`${name}-1`, `${name}-2`])
      expect((await send(csv, { 'idempotency-key': key })).body).toEqual(first.body)
      expect((await store.adminUserByName(`${name}-2`))?.role).toBe('admin')
      expect(events.slice(before).filter(({ action }) => action === 'user.create')).toHaveLength(2)
    })

    test('none of them when a line is wrong, and names the line', async () => {
      const name = randomUUID()
      const { status, body } = await send(`name,role\n${name},user\n${name}-2,root\n`)
      expect([status, body.error.message]).toEqual([
        400,
        'nothing is imported: 1 of 2 users are wrong\nline 3: role must be user or admin',
      ])
      expect(await store.adminUserByName(name)).toBeUndefined()
      expect((await send('surname\nann\n')).status).toBe(400)
    })

    test('names the first 20 wrong lines, and takes no long file and no other type', async () => {
      const lines = (await send(`name,role\n${'a,b\n'.repeat(30)}`)).body.error.message.split('\n')
      expect([lines.length, lines.at(-1)]).toEqual([22, '…'])
      expect((await send(`name\n${'x'.repeat(1_048_576)}`)).status).toBe(413)
      expect((await send('name\nann\n', { 'content-type': 'application/json' })).status).toBe(415)
    })

    test('not for a token with the scope provision', async () => {
      const api = await openAdmin(store)
      const call = api.with((await addUser(store, 'admin', ['provision'])).token)
      const { status } = await call('POST', '/users/import', {
        body: 'name\nx\n',
        headers: { 'content-type': 'text/csv' },
      })
      expect(status).toBe(403)
    })
  })
})
