/** Runs with `--all`: restores backups of both databases with the programs of the system. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { globSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { openStore } from '../../src/store/index.ts'
import { freePort } from '../support/free-port.ts'
import { describeIf } from '../support/run-if.ts'
import { startServer } from '../support/server.ts'
import { findProgram, operatingFile, run } from './fixture.ts'

/** The commands of a code block in the page about operating. */
const commands = (name: string): string => {
  const [, block = ''] =
    new RegExp(`\`\`\`sh ${name}\\n([\\s\\S]*?)\`\`\``).exec(readFileSync(operatingFile('README.md'), 'utf8')) ?? []
  if (block === '') throw new Error(`there is no block ${name}`)
  return block
}

/** Runs the commands in a folder, as an operator would. Fails with their messages. */
const runCommands = async (name: string, cwd: string, env: Record<string, string> = {}) => {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`
  const { status, output, errors } = await run(['bash', '-euo', 'pipefail', '-c', commands(name)], {
    cwd,
    env: { PATH: path, ...env },
  })
  expect({ status, output, errors }).toEqual({ status: 0, output: '', errors: '' })
}

/** Adds a user with a token and a group. */
const addData = async (url: string, name: string) => {
  const store = openStore(url, { deadlineMs: 60_000 })
  await store.migrate()
  const id = await store.addUser({ name, createdAt: Date.now() })
  const token = createToken()
  await store.addToken({ user: id ?? '', hash: hashToken(token), start: token.slice(0, 9), createdAt: Date.now() })
  await store.close()
  return { name, token }
}

/** Whether a server on this database knows the token of a user. */
const knows = async (url: string, tokens: readonly string[]) => {
  const server = await startServer({ DATABASE_URL: url })
  const statuses: number[] = []
  for (const token of tokens) {
    // Without an upstream, a caller that is known gets 502.
    const headers = { authorization: `Bearer ${token}` }
    statuses.push((await fetch(`${server.url}/api/media/proxy/assets/groups`, { headers })).status)
  }
  await server.kill('SIGTERM')
  return statuses.map((status) => status !== 401)
}

describe('a backup of SQLite', () => {
  test('of a running server has everything until then, and a restore brings that back', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'))
    try {
      await mkdir(join(folder, 'data'))
      const url = `sqlite:${join(folder, 'data/sluice.db')}`
      const server = await startServer({ DATABASE_URL: url })
      const before = await addData(url, 'ann')
      await runCommands('sqlite-backup', folder)
      const after = await addData(url, 'bob')
      expect(statSync(join(folder, 'backup.db')).mode & 0o777).toBe(0o600)
      await server.kill('SIGTERM')
      expect(await knows(url, [before.token, after.token])).toEqual([true, true])
      await runCommands('sqlite-restore', folder)
      expect(await knows(url, [before.token, after.token])).toEqual([true, false])
      expect(statSync(join(folder, 'data/sluice.db')).mode & 0o777).toBe(0o600)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 300_000)
})

const pgDump = findProgram('pg_dump')
const [programs] = globSync('/usr/lib/postgresql/*/bin/initdb').map(dirname).sort().reverse()
const isRoot = process.getuid?.() === 0

describeIf(pgDump !== undefined && programs !== undefined, 'PostgreSQL and its tools are not installed')(
  'a backup of PostgreSQL',
  () => {
    // The tools refuse a server that is newer than they are, as that of the other tests may be. So this one is of the tools' version.
    let folder: string
    let port: number
    const databaseUrl = (name: string) => `postgres://sluice@127.0.0.1:${port}/${name}`
    /** PostgreSQL does not run as root. */
    const asUser = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
    const control = (...words: readonly string[]) =>
      run([...asUser, join(programs ?? '', 'pg_ctl'), '--pgdata', join(folder, 'database'), '--wait', ...words])

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-backup-'))
      await chmod(folder, 0o777)
      port = await freePort()
      const options = ['--auth=trust', '--username=sluice', '--encoding=UTF8', '--no-sync']
      const made = await run([
        ...asUser,
        join(programs ?? '', 'initdb'),
        ...options,
        '--pgdata',
        join(folder, 'database'),
      ])
      expect([made.status, made.errors]).toEqual([0, expect.any(String)])
      const settings = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories= -c fsync=off`
      await control('--silent', '--log', join(folder, 'log'), '--options', settings, 'start')
      await run([join(programs ?? '', 'createdb'), '--maintenance-db', databaseUrl('postgres'), 'sluice'])
    }, 300_000)
    afterAll(async () => {
      await control('--mode=immediate', 'stop')
      await rm(folder, { recursive: true, force: true })
    })

    test('of a running server has everything until then, and a restore to an empty database brings that back', async () => {
      const url = databaseUrl('sluice')
      const server = await startServer({ DATABASE_URL: url })
      const before = await addData(url, 'ann')
      await runCommands('postgres-backup', folder, { DATABASE_URL: url })
      expect(statSync(join(folder, 'backup.dump')).mode & 0o777).toBe(0o600)
      const after = await addData(url, 'bob')
      await server.kill('SIGTERM')
      const restored = databaseUrl('restored')
      await run([join(programs ?? '', 'createdb'), '--maintenance-db', databaseUrl('postgres'), 'restored'])
      await runCommands('postgres-restore', folder, { DATABASE_URL: restored })
      expect(await knows(url, [before.token, after.token])).toEqual([true, true])
      expect(await knows(restored, [before.token, after.token])).toEqual([true, false])
    }, 300_000)
  },
)

describe('an older version on a newer database', () => {
  test('is not ready, says why in the log, and changes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-newer-'))
    try {
      const url = `sqlite:${join(folder, 'sluice.db')}`
      const { token } = await addData(url, 'ann')
      const { Database } = await import('bun:sqlite')
      const database = new Database(join(folder, 'sluice.db'))
      database.run('insert into sluice_migrations (id, applied_at) values (1000, 0)')
      const server = await startServer({ DATABASE_URL: url })
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      expect(server.stderr()).toContain('the database is newer than this program')
      await server.kill('SIGTERM')
      database.run('delete from sluice_migrations where id = 1000')
      database.close()
      expect(await knows(url, [token])).toEqual([true])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 300_000)
})
