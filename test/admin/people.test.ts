import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomUUID } from 'node:crypto'
import { hashToken } from '../../plugins/api-token/token.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('admin', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = (...args: readonly string[]) =>
    runCommand(store, args, { publicUrl: () => 'https://sluice.example/gateway' })
  const ok = async (...args: readonly string[]) => {
    const { status, out, err } = await run(...args)
    expect([args, status, err]).toEqual([args, 0, []])
    return out
  }
  const addUser = async (...flags: readonly string[]) => {
    const name = `u-${randomUUID()}`
    const [id = ''] = await ok('user', 'add', name, ...flags)
    return { name, id }
  }
  const addTeam = async (...flags: readonly string[]) => {
    const name = `t-${randomUUID()}`
    const [id = ''] = await ok('team', 'add', name, ...flags)
    return { name, id }
  }

  test('user add takes role, team, external id and limits; show and list print them', async () => {
    const team = await addTeam()
    const limits = '[{"unit":"cost","amount":1.5,"window":"month"}]'
    const externalId = randomUUID()
    const flags = ['--role', 'admin', '--team', team.name, '--external-id', externalId, '--limits', limits]
    const user = await addUser(...flags)
    const shown = {
      ...{ id: user.id, name: user.name, role: 'admin', team: team.id, team_name: team.name, service: false },
      ...{ external_id: externalId, created_at: '2026-09-21T14:13:20.000Z', disabled_at: null, last_active_at: null },
      ...{ login: 'none', limits: JSON.parse(limits) },
    }
    expect((await ok('user', 'show', user.name)).map((line) => JSON.parse(line))).toEqual([shown])
    expect((await ok('user', 'list', '--json', '--search', user.name)).map((line) => JSON.parse(line))).toEqual([shown])
    const line = [user.id, user.name, 'enabled', 'no password', 'created 2026-09-21T14:13:20.000Z', 'admin']
    expect(await ok('user', 'list', '--team', team.name)).toEqual([[...line, `team ${team.name}`].join('\t')])
    expect(await ok('user', 'list', '--search', user.name, '--role', 'user')).toEqual([])
    const service = await addUser('--service')
    expect(await ok('user', 'list', '--search', service.name)).toEqual([expect.stringMatching(/\tservice$/)])
  })

  test('user role, team, change and limits change a user', async () => {
    const [user, team, name] = [await addUser(), await addTeam(), randomUUID()]
    await ok('user', 'role', user.name, 'admin')
    await ok('user', 'team', user.name, team.name)
    await ok('user', 'limits', user.name, '[]')
    await ok('user', 'change', user.name, '--name', name, '--external-id', name)
    expect(await store.adminUser(user.id)).toMatchObject({
      ...{ name, role: 'admin', team: team.id, limits: '[]', externalId: name },
    })
    expect(await ok('user', 'limits', name)).toEqual(['[]'])
    await ok('user', 'limits', name, 'null')
    await ok('user', 'team', name, '-')
    await ok('user', 'change', name, '--external-id', '-')
    expect(await ok('user', 'limits', name)).toEqual(['null'])
    const changed = await store.adminUser(user.id)
    expect([changed?.team, changed?.externalId, changed?.limits]).toEqual([undefined, undefined, undefined])
  })

  test('the last admin can be demoted and disabled', async () => {
    const admins = (await store.listAdminUsers({ role: 'admin', state: 'enabled' }, { limit: 200 })).items
    for (const { name } of admins) await ok('user', 'disable', name)
    const last = await addUser('--role', 'admin')
    await ok('user', 'role', last.name, 'user')
    await ok('user', 'role', last.name, 'admin')
    await ok('user', 'disable', last.name)
  })

  test('user add --invite and user invite print a link', async () => {
    const name = randomUUID()
    const [id, link = ''] = await ok('user', 'add', name, '--invite')
    const valid = (url: string) =>
      store.invitedUser(
        createHash('sha256')
          .update(url.split('/').at(-1) ?? '')
          .digest('hex'),
        1_790_000_000_001,
      )
    expect(link).toStartWith('https://sluice.example/gateway/console#/invitation/')
    expect(await valid(link)).toMatchObject({ user: id })
    const [again = '', end] = (await ok('user', 'invite', name))[0]?.split('\t') ?? []
    expect(end).toBe('expires 2026-09-24T14:13:20.000Z')
    expect([await valid(link), await valid(again)]).toMatchObject([undefined, { user: id }])
    await ok('user', 'logout', name)
  })

  test('teams are added, listed, renamed, limited and deleted', async () => {
    const [team, name] = [await addTeam('--limits', '[{"unit":"streams","amount":3}]'), randomUUID()]
    await addUser('--team', team.name)
    await ok('team', 'rename', team.name, name)
    expect(await ok('team', 'limits', name)).toEqual(['[{"unit":"streams","amount":3}]'])
    await ok('team', 'limits', name, '[]')
    const lines = await ok('team', 'list', '--json')
    expect(lines.map((line) => JSON.parse(line))).toContainEqual({
      ...{ id: team.id, name, limits: [], members: 1, created_at: '2026-09-21T14:13:20.000Z' },
    })
    expect(await ok('team', 'list')).toContain(`${team.id}\t${name}\tmembers 1\tcreated 2026-09-21T14:13:20.000Z`)
    expect(await run('team', 'delete', name)).toEqual({ status: 1, out: [], err: [expect.stringContaining('members')] })
    const empty = await addTeam()
    await ok('team', 'delete', empty.name)
    expect(await store.team(empty.id)).toBeUndefined()
  })

  test('tokens have scopes, models and limits, and are changed and rotated', async () => {
    const user = await addUser()
    const flags = ['--scopes', 'read,admin', '--models', 'gpt-*,m', '--limits', '[{"unit":"requests","amount":1}]']
    const [secret = ''] = await ok('token', 'add', user.name, ...flags)
    const listed = async () => (await ok('token', 'list', user.name, '--json')).map((line) => JSON.parse(line))
    const [token] = await listed()
    expect(token).toMatchObject({
      ...{ user: user.id, user_name: user.name, scopes: ['read', 'admin'], models: ['gpt-*', 'm'], label: null },
      ...{ limits: [{ unit: 'requests', amount: 1 }], start: secret.slice(0, 9) },
    })
    await ok('token', 'change', token.id, '--models', '-', '--limits', '-', '--scopes', 'text', '--label', 'laptop')
    expect(await listed()).toMatchObject([{ models: null, limits: null, scopes: ['text'], label: 'laptop' }])
    const [rotated = ''] = await ok('token', 'rotate', token.id, '--overlap', '60')
    expect([await store.ownerOf(hashToken(rotated)), (await listed())[0].old_secret_until]).toMatchObject([
      { token: token.id },
      '2026-09-21T14:14:20.000Z',
    ])
    const everybody = (await ok('token', 'list', '--json')).map((line) => JSON.parse(line).id)
    expect(everybody).toContain(token.id)
  })

  describe('wrong values of flags are wrong usage, and change nothing:', () => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['user', 'limits', 'NAME', '[{"unit":"tokens","amount":1},{"unit":"tokens"}]'], 'limits[1].amount must be'],
      [['user', 'limits', 'NAME', '{'], 'the limits must be JSON'],
      [
        ['user', 'limits', 'NAME', '[{"unit":"requests","amount":1,"amount":99}]'],
        'the limits must have no field twice',
      ],
      [['user', 'role', 'NAME', 'root'], 'role must be user or admin'],
      [['user', 'list', '--state', 'on'], '--state must be one of enabled, disabled'],
      [['user', 'add', 'NEW', '--limits', '[{"unit":"x"}]'], 'limits[0].unit must be one of'],
      [['team', 'add', 'NEW', '--limits', '7'], 'limits must be a list'],
      [['token', 'add', 'NAME', '--scopes', 'all'], 'scopes must be a list of one or more of'],
      [['token', 'add', 'NAME', '--models', 'a*b'], 'models[0] must be a model'],
      [['token', 'add', 'NAME', '--limits', '[{"unit":"cost","amount":-1}]'], 'limits[0].amount must be'],
      [['token', 'add', 'NAME', '--expires', '2020-01-31'], '--expires must be in the future'],
      [['token', 'change', 'ID', '--expires', '2020-01-31'], '--expires must be in the future'],
      [['token', 'rotate', 'ID', '--overlap', 'long'], 'overlap_seconds must be an integer from 0 to 604800'],
      [['user', 'change', 'NAME'], '--name or --external-id is missing'],
      [['usage', '--group-by', 'hour'], 'group_by must be one of day'],
    ]
    for (const [args, message] of wrong) {
      test(args.join(' '), async () => {
        const user = await addUser()
        const before = await store.adminUser(user.id)
        const fresh = randomUUID()
        const given = args.map((each) => (each === 'NAME' ? user.name : each === 'NEW' ? fresh : each))
        const { status, out, err } = await run(...given)
        expect([status, out]).toEqual([2, []])
        expect(err[0]).toContain(message)
        expect(await store.adminUser(user.id)).toEqual(before)
        expect(await store.adminUserByName(fresh)).toBeUndefined()
        expect(await store.listTokens(user.id)).toEqual([])
      })
    }
  })

  test('an unknown user, team and token, and a name that is taken, are errors', async () => {
    const [user, team] = [await addUser(), await addTeam()]
    for (const args of [
      ['user', 'show', randomUUID()],
      ['user', 'role', randomUUID(), 'admin'],
      ['user', 'team', user.name, randomUUID()],
      ['user', 'team', user.name, ''],
      ['user', 'change', user.name, '--name', 'a\nb'],
      ['user', 'add', randomUUID(), '--team', randomUUID()],
      ['user', 'add', user.name.toUpperCase()],
      ['user', 'password', user.name, '--password', 'short'],
      ['user', 'add', randomUUID(), '--service', '--invite'],
      ['team', 'add', team.name],
      ['team', 'add', 'a\nb'],
      ['team', 'limits', randomUUID(), '[]'],
      ['team', 'delete', randomUUID()],
      ['token', 'rotate', randomUUID()],
      ['token', 'change', randomUUID(), '--label', 'x'],
    ])
      expect([args, await run(...args)]).toEqual([args, { status: 1, out: [], err: [expect.any(String)] }])
  })

  test('each change is in the audit trail, with the names of its fields', async () => {
    const user = await addUser('--limits', '[]')
    await ok('user', 'role', user.name, 'admin')
    await ok('user', 'invite', user.name)
    await ok('token', 'add', user.name, '--scopes', 'text')
    const entries = (await ok('audit', '--user', user.name)).map((line) => JSON.parse(line))
    const changes = entries.map(({ action, fields, address, user_id: id }) => [action, fields, address, id])
    expect(changes.sort()).toEqual([
      ['token.create', ['scopes'], 'admin', user.id],
      ['user.create', ['name', 'limits'], 'admin', user.id],
      ['user.invite', undefined, 'admin', user.id],
      ['user.update', ['role'], 'admin', user.id],
    ])
  })
})
