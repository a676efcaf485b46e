import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { hashToken } from '../../plugins/api-token/token.ts'
import { verifyPassword } from '../../plugins/web-session/password.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('admin', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = (line: string | readonly string[], { stdin = '', now = 1_790_000_000_000 } = {}) =>
    runCommand(store, typeof line === 'string' ? line.split(' ') : line, {
      stdin: async () => stdin,
      clock: { now: () => now },
    })
  const user = async () => {
    const name = `u-${randomUUID()}`
    const { out } = await run(`user add ${name}`)
    return { name, id: out[0] ?? '' }
  }

  describe('user', () => {
    test('add prints the id, and rejects a name that exists', async () => {
      const name = randomUUID()
      const added = await run(`user add ${name}`)
      expect(added).toEqual({ status: 0, out: [(await store.userByName(name))?.id ?? ''], err: [] })
      expect(await run(`user add ${name}`)).toEqual({
        status: 1,
        out: [],
        err: ['there is a user of that name already'],
      })
    })

    test('a password is read from the argument or from standard input, and only its hash is stored', async () => {
      const [first, second] = [randomUUID(), randomUUID()]
      await run(['user', 'add', first, '--password', 'open sesame street'])
      await run(['user', 'add', second, '--password', '-'], { stdin: 'from a pipe of data\n' })
      const [a, b] = [await store.userByName(first), await store.userByName(second)]
      expect(a?.password).toStartWith('$argon2id$')
      expect(await verifyPassword('open sesame street', a?.password)).toBe(true)
      expect(await verifyPassword('from a pipe of data', b?.password)).toBe(true)
      await run(['user', 'password', first, '--password=changed again'])
      expect(await verifyPassword('changed again', (await store.userByName(first))?.password)).toBe(true)
    })

    test('an empty password, an invalid name and an unknown user are errors', async () => {
      for (const args of [
        ['user', 'add', randomUUID(), '--password', '-'],
        ['user', 'add', ''],
        ['user', 'add', 'a\tb'],
        ['user', 'add', ' a'],
        ['user', 'add', 'a\0'],
        ['user', 'add', 'a\ud800'],
        ['user', 'add', 'a'.repeat(129)],
        ['user', 'disable', randomUUID()],
        ['user', 'enable', randomUUID()],
        ['user', 'password', randomUUID(), '--password', 'x'],
        ['token', 'add', randomUUID()],
        ['token', 'list', randomUUID()],
        ['token', 'revoke', randomUUID()],
        ['group', 'release', randomUUID()],
      ]) {
        expect(await run(args)).toEqual({ status: 1, out: [], err: [expect.any(String)] })
      }
    })

    test('list shows which users are disabled', async () => {
      const [on, off] = [await user(), await user()]
      expect((await run(`user disable ${off.name}`)).status).toBe(0)
      const { out } = await run('user list')
      const created = 'created 2026-09-21T14:13:20.000Z'
      expect(out).toContain(`${on.id}\t${on.name}\tenabled\tno password\t${created}`)
      expect(out).toContain(`${off.id}\t${off.name}\tdisabled 2026-09-21T14:13:20.000Z\tno password\t${created}`)
      await run(`user enable ${off.name}`)
      expect((await run('user list')).out).toContain(`${off.id}\t${off.name}\tenabled\tno password\t${created}`)
    })
  })

  describe('token', () => {
    test('add prints a token that is valid until it is revoked or its user is disabled', async () => {
      const { name, id } = await user()
      const { status, out } = await run(`token add ${name}`)
      expect(status).toBe(0)
      expect(out).toEqual([expect.stringMatching(/^sk-[A-Za-z0-9]{43}$/)])
      const hash = hashToken(out[0] ?? '')
      const token = (await store.ownerOf(hash))?.token ?? ''
      expect(await store.ownerOf(hash)).toMatchObject({ user: id, token })
      await run(`user disable ${name}`)
      expect(await store.ownerOf(hash)).toBeUndefined()
      await run(`user enable ${name}`)
      expect(await run(`token revoke ${token}`)).toEqual({ status: 0, out: [], err: [] })
      expect(await store.ownerOf(hash)).toBeUndefined()
    })

    test('list shows id, user, label, first characters and times, of one user or of all', async () => {
      const [mine, other] = [await user(), await user()]
      const added = await run(['token', 'add', mine.name, '--label', 'my laptop', '--expires', '2030-01-31'])
      await run(`token add ${other.name}`)
      const [token] = await store.listTokens(mine.id)
      const start = added.out[0]?.slice(0, 9)
      const line = [
        ...[token?.id, mine.name, 'my laptop', `${start}…`, 'created 2026-09-21T14:13:20.000Z'],
        ...['expires 2030-01-31T00:00:00.000Z', 'not revoked'],
      ].join('\t')
      expect((await run(`token list ${mine.name}`)).out).toEqual([line])
      await run(`token revoke ${token?.id}`)
      const all = (await run('token list')).out
      expect(all).toContain(line.replace('not revoked', 'revoked 2026-09-21T14:13:20.000Z'))
      expect(all.some((each) => each.includes(other.name))).toBe(true)
    })

    test('list finds those of all users by label, beginning, state and last use', async () => {
      const [mine, other] = [await user(), await user()]
      const label = randomUUID()
      await run(['token', 'add', mine.name, '--label', `${label} One`])
      const { out } = await run(['token', 'add', other.name, '--label', `${label} two`])
      const [token] = await store.listTokens(mine.id)
      const idsOf = async (...flags: string[]) =>
        (await run(['token', 'list', '--json', ...flags])).out.map((line) => JSON.parse(line).label.replace(label, ''))
      expect((await idsOf('--search', label.toUpperCase())).sort()).toEqual([' One', ' two'])
      expect(await idsOf('--search', out[0] ?? '')).toEqual([' two'])
      await run(`token revoke ${token?.id}`)
      expect(await idsOf('--search', label, '--state', 'revoked')).toEqual([' One'])
      expect(await idsOf('--search', label, '--unused-since', '2026-01-01')).toHaveLength(2)
      expect(await idsOf('--search', label, '--used-since', '2026-01-01')).toEqual([])
      expect((await run(['token', 'list', other.name, '--search', label, '--json'])).out).toHaveLength(1)
    })

    test.each([
      ['2030-01-31T10:00:00+08:00', Date.UTC(2030, 0, 31, 2)],
      ['2030-01-31T02:00:00Z', Date.UTC(2030, 0, 31, 2)],
      ['2030-01-31T02:00', Date.UTC(2030, 0, 31, 2)],
    ])('an end is given as %s', async (text, expiresAt) => {
      const { name, id } = await user()
      await run(`token add ${name} --expires ${text}`)
      expect(await store.listTokens(id)).toEqual([expect.objectContaining({ expiresAt })])
    })
  })

  describe('group', () => {
    test('adopt makes a user the owner of a group, once for each group', async () => {
      const [first, second, id] = [await user(), await user(), `group-${randomUUID()}`]
      const adopt = (name: string) => run(['group', 'adopt', name, id, '--type', 'AIGC', '--name', 'My cats'])
      expect(await adopt(first.name)).toEqual({ status: 0, out: [], err: [] })
      expect(await store.group(id)).toEqual({
        ...{ id, user: first.id, type: 'AIGC', name: 'My cats', createdAt: 1_790_000_000_000 },
      })
      expect(await adopt(second.name)).toEqual({ status: 1, out: [], err: ['the group has an owner already'] })
      expect(await run(['group', 'adopt', first.name, randomUUID(), '--type', 'AIGC', '--name', 'My cats'])).toEqual({
        ...{ status: 1, out: [], err: ['the user has a group of that type and name already'] },
      })
    })

    test('adopt rejects ids and names that no group can have', async () => {
      const { name } = await user()
      const wrong = ['', 'a b', 'a/b', 'a\\b', 'a?b', 'a#b', 'a%b', 'a,b', 'a\nb', 'a\0', '..', 'a'.repeat(257)]
      for (const id of wrong) {
        const { status } = await run(['group', 'adopt', name, id, '--type', 'AIGC', '--name', 'x'])
        expect(status).toBe(1)
      }
      expect((await run(['group', 'adopt', name, 'a', '--type', 'AIGC', '--name', 'x'.repeat(65)])).status).toBe(1)
      expect(await store.group('a')).toBeUndefined()
    })

    test('pending escapes line breaks and terminal control characters in a name', async () => {
      const { name, id } = await user()
      const wanted = { user: id, type: 'AIGC', createdAt: 1, dueAt: 2 }
      await store.claim({ ...wanted, name: 'a\nforged\tline\u001b[2J\u009b1m\u202e\u2028b' })
      const lines = (await run('group pending')).out.filter((line) => line.includes(name))
      expect(lines).toHaveLength(1)
      expect(lines[0]?.split('\t')[3]).toBe('a\\u000aforged\\u0009line\\u001b[2J\\u009b1m\\u202e\\u2028b')
    })

    test('pending lists open claims, release deletes one, adopt resolves one', async () => {
      const { name, id } = await user()
      const wanted = { user: id, type: 'AIGC', createdAt: 1_000, dueAt: 2_000 }
      const first = await store.claim({ ...wanted, name: 'one' })
      const second = await store.claim({ ...wanted, name: 'two', createdAt: 3_000, renames: 'g-1' })
      const pending = async () => (await run('group pending')).out.filter((line) => line.includes(name))
      const firstLine = [
        ...[first?.id, name, 'AIGC', 'one', 'pending', 'new'],
        ...['since 1970-01-01T00:00:01.000Z', 'due 1970-01-01T00:00:02.000Z'],
      ].join('\t')
      const secondLine = [
        ...[second?.id, name, 'AIGC', 'two', 'pending', 'renames g-1'],
        ...['since 1970-01-01T00:00:03.000Z', 'due 1970-01-01T00:00:02.000Z'],
      ].join('\t')
      expect(await pending()).toEqual([firstLine, secondLine])
      expect(await run(`group release ${second?.id}`)).toEqual({ status: 0, out: [], err: [] })
      expect(await pending()).toEqual([firstLine])
      await run(['group', 'adopt', name, `g-${id}`, '--type', 'AIGC', '--name', 'one'])
      expect(await pending()).toEqual([])
    })
  })

  test.each([
    '',
    'user',
    'user rename a b',
    'user add',
    'user add a b',
    'user add a --label x',
    'user add a --password',
    'user password a',
    'user list a',
    'token add a --expires tomorrow',
    'token add a --expires 2030-13-45',
    'token list a b',
    'token list --state enabled',
    'token list --used-since soon',
    'group adopt a g --type AIGC',
    'group adopt a g --name x',
    'group adopt a g --type aigc --name x',
    '__proto__ x',
    'toString x',
  ])('%j is no command', async (line) => {
    const { status, out, err } = await run(line === '' ? [] : line)
    expect(status).toBe(2)
    expect(out).toEqual([])
    expect(err.at(-1)).toStartWith('usage: admin COMMAND')
  })
})
