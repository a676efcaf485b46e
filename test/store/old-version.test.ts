import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { hashToken } from '../../plugins/api-token/index.ts'
import type { Row } from '../../src/store/database/database.ts'
import { databaseKinds } from '../../src/store/database/kinds.ts'
import type { Statement } from '../../src/store/database/statement.ts'
import { openStore } from '../../src/store/index.ts'
import { eachEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { startServer } from '../support/server.ts'

/** What the server of commit f7c12a6 has written while it had requests: before roles, teams, limits and the admin API. */
const old = (name: string): string => readFileSync(join(import.meta.dir, 'old-version', name), 'utf8')

const load: Readonly<Record<TestDatabase['kind'], (url: string, statements: string) => Promise<void>>> = {
  async sqlite(url, statements) {
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    database.exec(statements)
    database.close()
  },
  async postgres(url, statements) {
    const database = postgres(url, { max: 1 })
    await database.unsafe(statements)
    await database.end({ timeout: 1 })
  },
}

const statementOf = (text: string): Statement => ({ strings: Object.assign([text], { raw: [text] }), values: [] })

eachEmptyDatabase('a database that the server of an old version has filled', (tested) => {
  test('has all its rows after the start of this version, and its users go on', async () => {
    const statements = old(`${tested.kind}.sql`)
    const { ann, bob, made, revoked, group, asset, video } = JSON.parse(old(`${tested.kind}.json`))
    await load[tested.kind](tested.url, statements)
    const tables = [...statements.matchAll(/^create table (\w+)/gm)].map(([, name = '']) => name)
    expect(tables.length).toBeGreaterThan(25)
    const database = databaseKinds[tested.kind].open(tested.url, { deadlineMs: 60_000 })
    const readAll = async () => {
      const all: (readonly [table: string, rows: readonly Row[]])[] = []
      for (const table of tables) all.push([table, await database.query(statementOf(`select * from ${table}`))])
      return new Map(all)
    }
    const before = await readAll()

    const store = openStore(tested.url, { deadlineMs: 60_000 })
    await store.migrate()
    const after = await readAll()
    for (const [table, rows] of before)
      for (const row of rows)
        expect([table, after.get(table)]).toEqual([table, expect.arrayContaining([expect.objectContaining(row)])])

    const owner = await store.ownerOf(hashToken(ann))
    expect(owner).toMatchObject({ role: 'user', scopes: ['media', 'text', 'video'] })
    const user = owner?.user ?? ''
    expect(await store.ownerOf(hashToken(revoked))).toBeUndefined()
    expect(await store.group(group)).toMatchObject({ user, type: 'AIGC', name: 'faces' })
    expect(await store.groupOfAsset(asset)).toBe(group)
    expect(await store.anyVideoTask(video)).toMatchObject({ user, status: 'succeeded' })
    const usage = await store.sumUsage({ filter: {}, by: ['user'], limit: 10 })
    expect(usage.rows.map(({ userName, calls }) => `${userName} ${calls}`).sort()).toEqual(['Ann 5', 'bob 1'])
    expect(await store.limits.limitSubjects(user, undefined)).toEqual({ user: { id: user, name: 'Ann' } })
    const trail = await store.auditPage({}, { limit: 100 })
    expect(trail.items.map(({ action }) => action)).toContain('user.disable')
    expect((await store.verifyAudit({})).problems).toEqual([])
    await Promise.all([store.close(), database.close()])

    const server = await startServer({ DATABASE_URL: tested.url, STORAGE_URL: 'none', DATABASE_TIMEOUT_SECONDS: '60' })
    const ask = async (path: string, headers: Record<string, string>, body?: object) => {
      const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
      const answer = await fetch(server.url + path, init)
      return { status: answer.status, headers: answer.headers, json: (await answer.json()) as object }
    }
    const limitsOf = async (token: string) => (await ask('/api/limits', { authorization: `Bearer ${token}` })).status
    expect([await limitsOf(ann), await limitsOf(bob), await limitsOf(made), await limitsOf(revoked)]).toEqual([
      ...[200, 200, 200, 401],
    ])
    // Another user has the same name in another case, and is disabled.
    const login = (name: string) =>
      ask('/api/session', { 'content-type': 'application/json' }, { name, password: 'the password of Ann' })
    const session = await login('Ann')
    expect([session.status, session.json]).toMatchObject([200, { user: { id: user, name: 'Ann' } }])
    expect((await login('ANN')).status).toBe(401)
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(await ask('/api/tokens', { cookie })).toMatchObject({
      status: 200,
      json: { tokens: expect.arrayContaining([expect.objectContaining({ label: 'made in the console' })]) },
    })
    expect(await server.kill('SIGTERM')).toBe(0)
  }, 300_000)
})
