/** Runs with `--all`: whole servers and commands on both databases; test/audit tests the chain in the store. */
import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseNames } from '../support/database.ts'
import { browse, newToken, openFixture, until } from './fixture.ts'

const root = join(import.meta.dir, '../..')
const key = 'an audit key of the test'

const admin = (args: readonly string[], env: Readonly<Record<string, string>>) => {
  const child = spawnSync(process.execPath, [join(root, 'src/admin.ts'), ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { status: child.status, out: child.stdout, err: child.stderr }
}

test.each(databaseNames)(
  'two servers and the commands write one chain, which survives a kill (%s)',
  async (kind) => {
    await using fixture = await openFixture(kind)
    await fixture.addPerson('ann')
    const folder = await mkdtemp(join(tmpdir(), 'sluice-audit-'))
    const environment = { AUDIT_KEY: key, DRAIN_GRACE_SECONDS: '0' }
    const env = { ...environment, DATABASE_URL: fixture.environment.DATABASE_URL ?? '' }
    const servers = [await fixture.start(environment), await fixture.start(environment)] as const
    const tokens: string[] = []
    const work = async (rounds: number, live: readonly (typeof servers)[number][]) => {
      const browsers = await Promise.all(live.map((server) => browse(server, 'ann')))
      for (let round = 0; round < rounds; round++) {
        const created = await Promise.all(browsers.map((browser) => newToken(browser).catch(() => undefined)))
        tokens.push(...created.flatMap((token) => (token ? [token.id] : [])))
      }
    }
    await work(10, servers)
    const during = work(100, servers)
    await until(() => tokens.length > 30)
    await servers[0].kill('SIGKILL')
    await during.catch(() => {})
    expect(admin(['user', 'add', 'bob'], env).status).toBe(0)
    await work(3, [servers[1]])

    const verified = admin(['audit', 'verify'], env)
    expect([verified.status, verified.err]).toEqual([0, ''])
    const report = JSON.parse(verified.out)
    expect(report.keys).toEqual([{ key: 'AUDIT_KEY 1', first: 1, last: report.verified }])
    const { out } = admin(['audit'], env)
    expect(tokens.filter((id) => !out.includes(id))).toEqual([])
    expect(out).not.toContain(key)

    // Elsewhere, with the file and the key only.
    const path = join(folder, 'trail.jsonl')
    await writeFile(path, out)
    const elsewhere = { AUDIT_KEY: key, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    expect(admin(['audit', 'verify', path, '--head', report.head], elsewhere)).toMatchObject({ status: 0, err: '' })
    await writeFile(path, out.replace('"action":"user.create"', '"action":"user.enable"'))
    expect(admin(['audit', 'verify', path], elsewhere)).toMatchObject({
      status: 1,
      err: expect.stringContaining('is changed or forged'),
    })
    await rm(folder, { recursive: true })
  },
  300_000,
)
