import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('admin audit', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = (args: readonly string[], audit?: boolean) =>
    runCommand(store, args, { clock: { now: () => Date.UTC(2027, 0, 15, 12) }, audit })
  const add = (user: string, at: number, action: 'group.create' | 'asset.create' = 'group.create') =>
    store.recordAudit([{ id: randomUUID(), at, action, user, kind: 'group', target: 'g', times: 1 }])

  test('prints one JSON object per line, oldest first, without unknown fields', async () => {
    const name = randomUUID()
    const user = (await run(['user', 'add', name])).out[0]
    const { status, out, err } = await run(['audit', '--user', name])
    const line = `{"at":"2027-01-15T12:00:00.000Z","action":"user.create","user":"${name}","user_id":"${user}","kind":"user","id":"${user}","address":"admin","fields":["name"],"times":1,"sequence":N,"previous":"H","hmac":"H"}`
    const found = out.map((each) =>
      each.replace(/"sequence":\d+/, '"sequence":N').replaceAll(/"(previous|hmac)":"(?:[\da-f]{64})?"/g, '"$1":"H"'),
    )
    expect({ status, found, err }).toEqual({ status: 0, found: [line], err: [] })
  })

  test('escapes terminal control characters in user ids of a host app', async () => {
    const user = `${randomUUID()}\u009b2J\u202e\nb`
    await add(user, Date.UTC(2026, 6, 1))
    const { out } = await run(['audit', '--user', user])
    expect(out).toHaveLength(1)
    expect(out[0]).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(JSON.parse(out[0] ?? '').user_id).toBe(user)
  })

  test('prints a long trail completely', async () => {
    const user = randomUUID()
    const at = Date.UTC(2026, 5, 1)
    const entry = () => ({ id: randomUUID(), at, action: 'asset.create', user, times: 1 }) as const
    for (let batch = 0; batch < 5; batch++) await store.recordAudit(Array.from({ length: 450 }, entry))
    expect((await run(['audit', '--user', user])).out).toHaveLength(2_250)
  })

  test('filters by user, action, start time and end time', async () => {
    const user = randomUUID()
    await add(user, Date.UTC(2026, 8, 1))
    await add(user, Date.UTC(2026, 8, 2), 'asset.create')
    await add(user, Date.UTC(2026, 8, 3))
    const days = async (...args: string[]) =>
      (await run(['audit', '--user', user, ...args])).out.map((line) => JSON.parse(line).at.slice(8, 10))
    expect(await days()).toEqual(['01', '02', '03'])
    expect(await days('--action', 'group.create')).toEqual(['01', '03'])
    expect(await days('--since', '2026-09-02')).toEqual(['02', '03'])
    expect(await days('--until', '2026-09-03T00:00Z')).toEqual(['01', '02'])
    expect(await days('--since', '2026-09-01T23:00-01:00', '--until', '2026-09-02T00:00:00.001Z')).toEqual(['02'])
    expect((await run(['audit', '--user', randomUUID()])).out).toEqual([])
  })

  test('rejects invalid flags', async () => {
    for (const args of [
      ['audit', 'ann'],
      ['audit', '--action', 'group.steal'],
      ['audit', '--since', 'yesterday'],
      ['audit', '--until', '2026-13-01'],
      ['audit', '--since', '2026-02-01', '--until', '2026-01-01'],
    ]) {
      const { status, out, err } = await run(args)
      expect([args, status, out]).toEqual([args, 2, []])
      expect(err[0]).toMatch(/--(?:action|since|until) |wrong number of arguments/)
    }
  })

  test('contains no admin commands when the audit trail is off', async () => {
    const name = randomUUID()
    await run(['user', 'add', name], false)
    expect((await run(['audit', '--user', name])).out).toEqual([])
  })
})
