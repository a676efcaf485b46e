import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from '../../src/store/database/statement.ts'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { type Chain, day, entryAt, now, openChain } from './fixture.ts'

const key = 'a key that is not in the database'

/** A store of which every use fails. */
const noStore = new Proxy({} as Store, {
  get: (_, name) => () => {
    throw new Error(`the database is used: ${String(name)}`)
  },
})

const run = (store: Store, args: readonly string[], auditKeys?: readonly string[]) =>
  runCommand(store, args, { clock: { now: () => now }, ...(auditKeys && { auditKeys }) })

repeatOnDatabases('admin audit verify', (tested) => {
  let folder: string
  let path: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-audit-'))
    path = join(folder, 'trail.jsonl')
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** Prints the trail into the file, and returns its lines. */
  const exported = async ({ store }: Chain): Promise<string[]> => {
    const { out } = await run(store, ['audit'])
    await writeFile(path, `${out.join('\n')}\n`)
    return out
  }

  /** Verifies a file of these lines with the key, and without the database. */
  const verifyLines = async (lines: readonly string[], args: readonly string[] = []) => {
    await writeFile(path, lines.join('\n'))
    return run(noStore, ['audit', 'verify', path, ...args], [key])
  }

  test('prints the state of the chain as one JSON object', async () => {
    await using chain = await openChain(tested, { auditKeys: [key] })
    await chain.add(20)
    await chain.store.sweepAudit(now - day + 5_000, 100)
    const { status, out, err } = await run(chain.store, ['audit', 'verify'])
    expect([status, err]).toEqual([0, []])
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        ...{ verified: 15, first: 6, head: expect.stringMatching(/^20:[\da-f]{64}$/), removed: 5 },
        ...{ without_hmac: 0, newest_without_hmac: null, keys: [{ key: 'AUDIT_KEY 1', first: 6, last: 20 }] },
      },
    ])
  })

  test('prints each problem, and fails', async () => {
    await using chain = await openChain(tested, { auditKeys: [key] })
    await chain.add(20)
    await chain.database.query(sql`update audit_entries set user_id = 'bob' where sequence = 7`)
    await chain.database.query(sql`delete from audit_entries where sequence = 12`)
    const { status, out, err } = await run(chain.store, ['audit', 'verify'])
    expect([status, JSON.parse(out[0] ?? '').verified]).toEqual([1, 17])
    expect(err).toEqual([
      'entry 7 is changed or forged, or its key is not among the given ones',
      'entry 12 is missing',
      'the audit trail is not intact',
    ])
  })

  test('notices a cut end by an earlier head', async () => {
    await using chain = await openChain(tested, { auditKeys: [key] })
    await chain.add(20)
    const { head } = JSON.parse((await run(chain.store, ['audit', 'verify'])).out[0] ?? '')
    await chain.add(5)
    expect((await run(chain.store, ['audit', 'verify', '--head', head])).status).toBe(0)
    await chain.database.query(sql`delete from audit_entries where sequence > 15`)
    await chain.database.query(sql`
      update audit_chain
      set sequence = 15, hmac = (select hmac from audit_entries where sequence = 15)
      where name = 'head'`)
    expect((await run(chain.store, ['audit', 'verify'])).status).toBe(0)
    const cut = await run(chain.store, ['audit', 'verify', '--head', head])
    expect([cut.status, cut.err[0]]).toEqual([
      1,
      'entry 20 of the given head is missing: the end of the chain was cut off',
    ])
    for (const wrong of ['20', '20:ff', 'x:y', `-1:${'f'.repeat(64)}`]) {
      expect((await run(noStore, ['audit', 'verify', '--head', wrong], [key])).status).toBe(2)
    }
  })

  describe('of a file that was exported', () => {
    test('needs the key, and no database', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(20)
      const hostile = { user: 'a\u0001\u202e"\\\n\u2028é😀', reason: 'ключ', target: '\u007f', fields: ['a', 'b'] }
      await chain.store.recordAudit([entryAt(now, hostile)])
      await chain.store.sweepAudit(now - day + 5_000, 100)
      const lines = await exported(chain)
      expect(lines).toHaveLength(16)
      const inDatabase = await run(chain.store, ['audit', 'verify'])
      expect(await verifyLines(lines)).toEqual(inDatabase)
      const other = await run(noStore, ['audit', 'verify', path], ['another key of someone'])
      expect([other.status, JSON.parse(other.out[0] ?? '').verified]).toEqual([1, 0])
    })

    test('can be verified by anyone who has read the page', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.store.recordAudit([
        entryAt(now, { status: 403, reason: 'ключ' }),
        entryAt(now, { fields: undefined }),
      ])
      const page = await readFile(join(import.meta.dir, '../../examples/operating/README.md'), 'utf8')
      const [, names = ''] = /`\[(previous, .*)\]`/.exec(page) ?? []
      for (const line of (await exported(chain)).map((text) => JSON.parse(text))) {
        const message = names
          .split(', ')
          .map((name) => (name === 'at in milliseconds' ? Date.parse(line.at) : (line[name] ?? null)))
        expect(createHmac('sha256', key).update(JSON.stringify(message)).digest('hex')).toBe(line.hmac)
      }
    })

    test('works with the key of the database, where no other is configured', async () => {
      await using chain = await openChain(tested)
      await chain.add(8)
      await exported(chain)
      const { status, out } = await run(chain.store, ['audit', 'verify', path])
      expect([status, JSON.parse(out[0] ?? '')]).toEqual([
        0,
        expect.objectContaining({ verified: 8, keys: [{ key: 'database', first: 1, last: 8 }] }),
      ])
    })

    test('shows what was changed in the file', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.add(10)
      const lines = await exported(chain)
      const at = (nth: number) => lines[nth] ?? ''
      const changed = (nth: number, more: object) =>
        lines.with(nth, JSON.stringify({ ...JSON.parse(at(nth)), ...more }))
      const problems = async (tampered: readonly string[], args?: readonly string[]) =>
        (await verifyLines(tampered, args)).err.slice(0, -1)
      const forged = (entry: number) => `entry ${entry} is changed or forged, or its key is not among the given ones`

      expect(await problems(lines)).toEqual([])
      expect(await problems(changed(3, { user_id: 'bob' }))).toEqual([forged(4)])
      expect(await problems(changed(3, { times: 7 }))).toEqual([forged(4)])
      expect(await problems(changed(3, { at: new Date(now).toISOString() }))).toEqual([forged(4)])
      expect(await problems(changed(3, { reason: null }))).toEqual([])
      expect(await problems(lines.toSpliced(4, 2))).toEqual(['entries 5 to 6 are missing'])
      expect(await problems(lines.with(4, at(5)).with(5, at(4)))).toEqual([
        'entry 5 is missing',
        'entry 5 comes after entry 6',
      ])
      expect(await problems([...lines, at(9)])).toEqual(['entry 10 comes after entry 10'])
      expect(await problems(changed(0, { previous: 'f'.repeat(64) }))).toEqual([forged(1)])
      expect(await problems(lines.with(4, 'not JSON'))).toEqual([
        'line 5 is not an entry of the audit trail',
        'entry 5 is missing',
      ])
      for (const wrong of ['null', '7', '{}', '[]', '{"at":"x","sequence":5}', '{"at":"2027-01-01","sequence":1.5}']) {
        expect(await problems(lines.with(4, wrong))).toContain('line 5 is not an entry of the audit trail')
      }
      // Without an earlier head, an end that was cut off cannot be seen.
      const { head } = JSON.parse((await verifyLines(lines)).out[0] ?? '')
      expect(await problems(lines.slice(0, 6))).toEqual([])
      expect(await problems(lines.slice(0, 6), ['--head', head])).toEqual([
        'entry 10 of the given head is missing: the end of the chain was cut off',
      ])
    })

    test('tells entries of earlier versions from those that someone has inserted', async () => {
      await using chain = await openChain(tested, { auditKeys: [key] })
      await chain.database.query(sql`
        insert into audit_entries (id, at, action, times)
        values ('old', ${now - 9 * day}, 'user.create', 1)`)
      await chain.add(3)
      const lines = await exported(chain)
      const { status, out } = await verifyLines(lines)
      expect([status, JSON.parse(out[0] ?? '')]).toEqual([
        0,
        expect.objectContaining({
          ...{ verified: 3, without_hmac: 1 },
          newest_without_hmac: new Date(now - 9 * day).toISOString(),
        }),
      ])
      const inserted = JSON.stringify({ at: new Date(now).toISOString(), action: 'user.create', times: 1 })
      expect((await verifyLines([...lines, inserted])).err[0]).toBe(
        'an entry without an HMAC is newer than the chain: an earlier version, or someone without a key, wrote it',
      )
    })

    test('fails for a file that cannot be read, or has a line without an end', async () => {
      const missing = join(folder, 'missing.jsonl')
      const { status, err } = await run(noStore, ['audit', 'verify', missing], [key])
      expect([status, err]).toEqual([1, [expect.stringContaining(`${missing} cannot be read: `)]])
      await writeFile(path, 'x'.repeat(200_000))
      expect((await run(noStore, ['audit', 'verify', path], [key])).err).toEqual([
        `${path} cannot be read: it has a line that is too long`,
      ])
      await writeFile(path, '')
      expect((await run(noStore, ['audit', 'verify', path], [key])).status).toBe(0)
      expect(await readFile(path, 'utf8')).toBe('')
    })
  })
})
