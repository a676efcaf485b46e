import { expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createAuditLists } from '../../src/store/audit/lists.ts'
import { verifyAudit } from '../../src/store/audit/verify.ts'
import { repeatOnDatabases } from '../support/database.ts'
import { repeats } from '../support/repetitions.ts'
import { type Chain, day, entryAt, now, openChain } from './fixture.ts'

const maxMs = 120_000

/** A process that writes batches of entries. */
const startWriter = (url: string, batches: number) => {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dir, 'writer-process.ts'), url, String(batches)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let text = ''
  const listeners = new Set<() => void>()
  child.stdout?.on('data', (chunk) => {
    text += chunk
    for (const listener of listeners) listener()
  })
  const ended = once(child, 'close')
  return {
    /** The targets of the entries that are written. */
    written: () => text.split('\n').slice(0, -1),
    ended: async () => (await ended)[0] as number | null,
    /** Resolves when at least that many entries are written. Rejects when the process ends before. */
    writes: (count: number) =>
      new Promise<void>((resolve, reject) => {
        void ended.then(() => reject(new Error('the process that writes has ended')))
        const check = () => {
          if (text.split('\n').length > count) resolve()
        }
        listeners.add(check)
        check()
      }),
    kill: () => child.kill('SIGKILL'),
  }
}

const targetsOf = async ({ store }: Chain): Promise<readonly string[]> => {
  const targets: string[] = []
  let page = await store.chainedAudit(0)
  for (let last = page.at(-1); last; last = page.at(-1)) {
    targets.push(...page.map(({ target = '' }) => target))
    page = await store.chainedAudit(last.sequence ?? 0)
  }
  return targets
}

repeatOnDatabases('the chain of the audit trail', (tested) => {
  const processes = tested.kind === 'postgres' ? 3 : 2

  test(
    `of ${processes} processes that write at once is one, without a gap, also while it is verified`,
    async () => {
      await using chain = await openChain(tested)
      const writers = Array.from({ length: processes }, () => startWriter(tested.url, 60))
      let done = false
      const all = Promise.all(writers.map((writer) => writer.ended())).finally(() => {
        done = true
      })
      const reports = []
      while (!done) {
        reports.push(await chain.store.verifyAudit())
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(await all).toEqual(Array(processes).fill(0))
      expect(reports.flatMap(({ problems }) => problems)).toEqual([])
      const written = writers.flatMap((writer) => writer.written())
      expect(written.length).toBeGreaterThan(processes * 60)
      const report = await chain.store.verifyAudit()
      expect(report).toMatchObject({ problems: [], verified: written.length, first: 1 })
      expect(report.head.sequence).toBe(written.length)
      expect((await targetsOf(chain)).toSorted()).toEqual(written.toSorted())
    },
    maxMs,
  )

  test(
    'of processes that are killed while they write is intact, with every entry that was acknowledged',
    async () => {
      await using chain = await openChain(tested)
      const acknowledged: string[] = []
      for (let round = 0; round < repeats(1, 4); round++) {
        const [killed, other] = [startWriter(tested.url, 1_000_000), startWriter(tested.url, 1_000_000)]
        await Promise.all([killed.writes(40), other.writes(10)])
        killed.kill()
        await killed.ended()
        const before = other.written().length
        await other.writes(before + 40)
        other.kill()
        await other.ended()
        acknowledged.push(...killed.written(), ...other.written())
      }
      const targets = new Set(await targetsOf(chain))
      expect(acknowledged.filter((target) => !targets.has(target))).toEqual([])
      expect((await chain.store.verifyAudit()).problems).toEqual([])
    },
    maxMs,
  )

  test(
    'of one process is one for concurrent batches, which removals do not disturb',
    async () => {
      await using chain = await openChain(tested)
      const others = [chain.open(), chain.open()]
      const batches = Array.from({ length: 60 }, (_, nth) => [entryAt(now - 9 * day + nth), entryAt(now)])
      await Promise.all([
        ...batches.map((batch, nth) => (others[nth % 2] ?? chain.store).recordAudit(batch)),
        ...others.flatMap((store) => [store.sweepAudit(now - day, 10), store.verifyAudit()]),
      ])
      const { problems, head } = await chain.store.verifyAudit()
      expect([problems, head.sequence]).toEqual([[], 120])
    },
    maxMs,
  )

  test('is verified again where entries were removed during a verification', async () => {
    await using chain = await openChain(tested)
    await chain.add(20, now - 9 * day)
    await chain.add(10)
    const lists = createAuditLists(chain.database)
    let pages = 0
    const report = await verifyAudit(
      chain.database,
      {
        ...lists,
        async chainedAudit(...page) {
          if (++pages === 1) await chain.store.sweepAudit(now - 5 * day, 100)
          return lists.chainedAudit(...page)
        },
      },
      await chain.store.auditKeys(),
      {},
    )
    expect(report).toMatchObject({ problems: [], verified: 10, first: 21, removed: 20 })
  })

  test('has no gap where an earlier attempt has written a part of a batch', async () => {
    await using chain = await openChain(tested)
    const [one, two, three, four] = [entryAt(now), entryAt(now), entryAt(now), entryAt(now)]
    await chain.store.recordAudit([one, two])
    await chain.store.recordAudit([one, three, two, four, four])
    await chain.store.recordAudit([two, one])
    expect(await targetsOf(chain)).toEqual([one, two, three, four].map(({ target = '' }) => target))
    expect(await chain.store.verifyAudit()).toMatchObject({ problems: [], verified: 4, head: { sequence: 4 } })
  })

  test('has none of a batch that the database does not accept', async () => {
    await using chain = await openChain(tested)
    await chain.store.recordAudit([entryAt(now)])
    const poisoned = chain.store.recordAudit([entryAt(now), entryAt(now, { status: 0.5 }), entryAt(now)])
    await expect(poisoned).rejects.toThrow()
    await chain.store.recordAudit([entryAt(now)])
    expect(await chain.store.verifyAudit()).toMatchObject({ problems: [], verified: 2, head: { sequence: 2 } })
  })
})
