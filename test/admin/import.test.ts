import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUserImportStore, unfinishedMs } from '../../src/store/admin/user-import.ts'
import { StoreError } from '../../src/store/database/error.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('import users', (database) => {
  let store: Store
  let folder = ''
  beforeAll(async () => {
    store = await database.open()
    folder = await mkdtemp(join(tmpdir(), 'sluice-import-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const runFile = (path: string, on = store) => runCommand(on, ['import', 'users', path])
  const fileOf = async (content: string | Uint8Array) => {
    const path = join(folder, randomUUID())
    await writeFile(path, content)
    return path
  }
  const run = async (content: string | Uint8Array) => runFile(await fileOf(content))
  const addTeam = async (name: string) => {
    const team = await store.addTeam({ name, createdAt: 1 })
    if (typeof team === 'string') throw new Error(team)
    return team
  }
  const countUsers = async () => (await store.listUsers()).length

  test('adds the users with role, team and external id, and prints their ids', async () => {
    const [red, key] = [await addTeam(`Red ${randomUUID()}`), randomUUID()]
    const { status, out, err } = await run(
      `name,role,team,external_id\nann ${key},,,\nbob ${key},admin,${red.name.toUpperCase()},b-${key}\n`,
    )
    expect([status, err]).toEqual([0, []])
    const [ann, bob] = [await store.adminUserByName(`ann ${key}`), await store.adminUserByName(`bob ${key}`)]
    expect(out).toEqual([`${ann?.id}\tann ${key}`, `${bob?.id}\tbob ${key}`])
    expect(ann).toEqual({
      ...{ id: ann?.id ?? '', name: `ann ${key}`, role: 'user', service: false, login: 'none' },
      createdAt: 1_790_000_000_000,
    })
    expect(bob).toMatchObject({ role: 'admin', team: red.id, teamName: red.name, externalId: `b-${key}` })
    expect((await store.team(red.id))?.members).toBe(1)
    const found = await store.listAdminUsers({ search: key.toUpperCase().slice(3, 20) }, { limit: 10 })
    expect(found.items.map(({ name }) => name).sort()).toEqual([`ann ${key}`, `bob ${key}`])
    const entries = await store.listAudit({ action: 'user.create' }, undefined)
    expect(entries).toContainEqual(
      expect.objectContaining({ address: 'admin', name: `ann ${key}`, target: ann?.id, fields: ['name'] }),
    )
    const all = ['name', 'role', 'team', 'external_id']
    expect(entries).toContainEqual(expect.objectContaining({ name: `bob ${key}`, target: bob?.id, fields: all }))
  })

  test('reads a byte order mark, CRLF, quotes, empty lines, columns in another order, and a last line without end', async () => {
    const key = randomUUID()
    const lines = ['external_id,name', '', `"e,${key}","Ann ""the"" ${key}"`, `,李 ${key}`, '', `"",bob ${key}`]
    const { status, err } = await run(`\uFEFF${lines.join('\r\n')}`)
    expect([status, err]).toEqual([0, []])
    const users = await Promise.all(
      [`Ann "the" ${key}`, `李 ${key}`, `bob ${key}`].map((name) => store.adminUserByName(name)),
    )
    expect(users.map((user) => [user?.role, user?.externalId])).toEqual([
      ['user', `e,${key}`],
      ['user', undefined],
      ['user', undefined],
    ])
  })

  test('lists each wrong line with its reasons, and adds nobody', async () => {
    const [team, key] = [await addTeam(randomUUID()), randomUUID()]
    const name = `taken ${key}`
    await store.addAdminUser({ name, externalId: key, createdAt: 1 })
    await store.addAdminUser({ name: `${name} too`, externalId: `${key} too`, createdAt: 1 })
    const before = await countUsers()
    const text = 'must have 1 to 128 characters, no control characters or invisible ones, and no spaces around it'
    const lines: readonly (readonly [string, string?])[] = [
      [`fine ${key},user,${team.name},`],
      [`${name.toUpperCase()},,,`, 'there is a user of that name already'],
      [`a ${key},,,${key}`, 'there is a user with that external_id already'],
      [`b ${key},root,,`, 'role must be user or admin'],
      [`c ${key},,no such team,`, 'there is no such team'],
      [`FINE ${key},,,`, 'line 2 has the same name'],
      [`d ${key},,,x-${key}`],
      [`e ${key},,,x-${key}`, 'line 8 has the same external_id'],
      [',user,,', `name ${text}`],
      [' f,user,,', `name ${text}`],
      ['g\tg,,,', `name ${text}`],
      ['h\rh,,,', `name ${text}`],
      ['i\u0000,,,', `name ${text}`],
      [`${'j'.repeat(129)},,,`, `name ${text}`],
      [`k ${key},,a\u0007b,`, 'there is no such team'],
      [`l ${key},,`, 'it has 3 fields instead of 4'],
      [`m ${key},,,,`, 'it has 5 fields instead of 4'],
      [`"n ${key},,,`, 'its quotes are wrong: a quoted field ends with a quote and a comma'],
      [`"o ${key}"x,,,`, 'its quotes are wrong: a quoted field ends with a quote and a comma'],
      [`p "x" ${key},,,`, 'its quotes are wrong: a quoted field ends with a quote and a comma'],
      [`q ${key},,,${'x'.repeat(17_000)}`, 'it is longer than 16384 bytes'],
      [
        `${name} too,boss,nowhere,${key} too`,
        'role must be user or admin; there is no such team; there is a user of that name already; there is a user with that external_id already',
      ],
    ]
    const { status, out, err } = await run(
      `name,role,team,external_id\n${lines.map(([line]) => line).join('\n')}\nfine too ${key},,,\n`,
    )
    const expected = lines.flatMap(([, reason], index) =>
      reason === undefined ? [] : [`line ${index + 2}: ${reason}`],
    )
    expect([status, out]).toEqual([1, []])
    expect(err).toEqual([...expected, `nothing is imported: ${expected.length} of ${lines.length + 1} users are wrong`])
    expect([await countUsers(), (await store.team(team.id))?.members]).toEqual([before, 0])
  })

  test('a line that is not UTF-8 is wrong', async () => {
    const bytes = Buffer.from(`name\nann\nM\u00fcller\n`, 'latin1')
    expect((await run(bytes)).err[0]).toBe('line 3: it is not UTF-8')
  })

  describe('rejects a file', () => {
    const cases: Readonly<Record<string, readonly [string, string]>> = {
      'that is empty': ['', 'the file is empty'],
      'without a header': ['ann,user,,\n', 'line 1 must name the columns name,role,team,external_id'],
      'with an unknown column': ['name,password\nann,secret\n', 'line 1 must name the columns'],
      'with a column twice': ['name,name\nann,bob\n', 'line 1 must name the columns'],
      'without names': ['role,team\nuser,\n', 'line 1 must name the columns'],
      'with semicolons': ['name;role;team;external_id\nann;;;\n', 'line 1 must name the columns'],
      'with more than 100,000 users': [`name\n${'a\n'.repeat(100_001)}`, 'the file has more than 100000 users'],
    }
    for (const [name, [content, message]] of Object.entries(cases)) {
      test(name, async () => {
        const before = await countUsers()
        const { status, out, err } = await run(content)
        expect([status, out, err]).toEqual([1, [], [expect.stringContaining(message)]])
        expect(await countUsers()).toBe(before)
      })
    }

    test('that is longer than 10 MiB, without reading it to its end', async () => {
      const endless = await runFile('/dev/zero')
      expect(endless).toEqual({
        ...{ status: 1, out: [] },
        err: ['/dev/zero cannot be read: it is longer than 10485760 bytes'],
      })
      const tooLong = `name\n${'a'.repeat(10 * 2 ** 20)}`
      expect((await run(tooLong)).err).toEqual([expect.stringContaining('it is longer than 10485760 bytes')])
      expect((await run(tooLong.slice(0, 10 * 2 ** 20))).err[0]).toBe('line 2: it is longer than 16384 bytes')
    })

    test('that does not exist', async () => {
      const { status, err } = await runFile(join(folder, 'none'))
      expect([status, err]).toEqual([1, [expect.stringContaining('cannot be read: ENOENT')]])
    })
  })

  test('10 MB with one wrong line: that line is named, and nobody is added', async () => {
    const before = await countUsers()
    const key = randomUUID()
    const line = (nth: number) => `user-${nth}-${key}@department-of-examples.example.com,user,,external-${nth}-${key}\n`
    const count = 73_000
    const lines = Array.from({ length: count }, (_, nth) => line(nth))
    lines[count / 2] = `somebody ${key},superuser,,\n`
    const content = Buffer.from(`name,role,team,external_id\n${lines.join('')}`)
    expect(content.length).toBeWithin(10_000_000, 10 * 2 ** 20)
    const { status, out, err } = await run(content)
    expect({ status, out, err }).toEqual({
      ...{ status: 1, out: [] },
      err: [`line ${count / 2 + 2}: role must be user or admin`, `nothing is imported: 1 of ${count} users are wrong`],
    })
    expect(await countUsers()).toBe(before)
  }, 300_000)

  test('lets other requests go on meanwhile', async () => {
    const key = randomUUID()
    const users = Array.from({ length: 400 }, (_, nth) => ({ name: `user ${nth} ${key}`, role: 'user' as const }))
    let [isDone, turns] = [false, 0]
    const importing = store.importUsers(users, 1).finally(() => {
      isDone = true
    })
    for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(await importing).toEqual({ ids: expect.any(Array) })
    // Ten users in each turn, but for the last transaction.
    expect(turns).toBeGreaterThan(35)
  }, 300_000)

  test('of two imports with a name in common at once, one adds all its users and the other one none', async () => {
    const [other, team, key] = [await database.open(), await addTeam(randomUUID()), randomUUID()]
    const contents = ['first', 'second'].map((each) => {
      const own = Array.from({ length: 250 }, (_, nth) => `${each} ${nth} ${key},${team.name}\n`)
      return `name,team\n${own.join('')}both ${key},${team.name}\n`
    })
    const files = await Promise.all(contents.map(fileOf))
    const results = await Promise.all(files.map((path, index) => runFile(path, index === 0 ? store : other)))
    const won = results.findIndex(({ status }) => status === 0)
    expect(results.map(({ status }) => status).sort()).toEqual([0, 1])
    expect(results[won]?.out).toHaveLength(251)
    const reason = 'there is a user of that name already'
    expect(results[1 - won]).toMatchObject({
      out: [],
      err: [`line 252: ${reason}`, 'nothing is imported: 1 of 251 users are wrong'],
    })
    expect((await store.team(team.id))?.members).toBe(251)
    const names = (await store.listAdminUsers({ team: team.id }, { limit: 200 })).items.map(({ name }) => name)
    expect(names.every((name) => name.startsWith(won === 0 ? 'first' : 'second') || name === `both ${key}`)).toBe(true)
  }, 300_000)

  test('removes the parts of names that one has left whose process was killed, after an hour', async () => {
    await using it = await openImports()
    const reached = Promise.withResolvers<void>()
    const killed = it.importsWith(() => {
      reached.resolve()
      return new Promise(() => {})
    })
    void killed.importUsers([{ name: `lost ${randomUUID()}`, role: 'user' }], 1_000)
    await reached.promise
    const left = await it.countParts()
    expect(left).toBeGreaterThan(it.before)
    await it.imports.importUsers([], 1_000 + unfinishedMs - 1)
    expect(await it.countParts()).toBe(left)
    await it.imports.importUsers([], 1_000 + unfinishedMs)
    expect(await it.countParts()).toBe(it.before)
    const name = `kept ${randomUUID()}`
    await it.imports.importUsers([{ name, role: 'user' }], 1_000)
    await it.imports.importUsers([], 1_000 + unfinishedMs)
    const found = await store.listAdminUsers({ search: name.slice(5) }, { limit: 10 })
    expect(found.items.map((user) => user.name)).toEqual([name])
  })

  test('adds nobody when another one has removed what it has written', async () => {
    await using it = await openImports()
    const users = await countUsers()
    const slow = it.importsWith(async (run) => {
      await it.imports.importUsers([], 1_000 + unfinishedMs)
      return run()
    })
    await expect(slow.importUsers([{ name: `slow ${randomUUID()}`, role: 'user' }], 1_000)).rejects.toThrow(StoreError)
    expect([await countUsers(), await it.countParts()]).toEqual([users, it.before])
  })

  const openImports = async () => {
    const connection = databaseKinds[database.kind].open(database.url, { deadlineMs: 60_000 })
    const countParts = async () => {
      const [row] = await connection.query<{ readonly count: unknown }>(sql`
        select count(*) as count
        from user_name_parts`)
      return Number(row?.count)
    }
    return {
      countParts,
      before: await countParts(),
      imports: createUserImportStore(connection),
      /** Imports whose transaction begins when `begin` runs it. */
      importsWith: (begin: <Result>(run: () => Promise<Result>) => Promise<Result>) =>
        createUserImportStore({
          ...connection,
          transaction: (steps, deadlineMs) => begin(() => connection.transaction(steps, deadlineMs)),
        }),
      [Symbol.asyncDispose]: () => connection.close(),
    }
  }
})
