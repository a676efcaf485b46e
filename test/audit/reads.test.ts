import { expect, test } from 'bun:test'
import { createAudit } from '../../src/audit/index.ts'
import type { NewAuditEntry } from '../../src/store/index.ts'

const openTrail = () => {
  let now = 1_000_000
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const clock = {
    now: () => now,
    at(at: number, run: () => void) {
      const timer = { at, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const written: NewAuditEntry[] = []
  const store = {
    recordAudit: async (entries: readonly NewAuditEntry[]) => void written.push(...entries),
    sweepAudit: async () => 0,
  }
  const audit = createAudit({ store, keepMs: 1e9, addressOf: () => '192.0.2.1', clock })
  return {
    audit,
    async pass(ms: number) {
      const until = now + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (!next) break
        timers.delete(next)
        now = Math.max(now, next.at)
        next.run()
        await new Promise((resolve) => setImmediate(resolve))
      }
      now = until
    },
    read: (kind: string, user = 'ann', id?: string) =>
      audit.note({ action: 'admin.read', user, target: { kind, ...(id !== undefined && { id }) } }),
    entries: () => written.map(({ action, user, kind, target, times }) => [action, user, kind, target, times]),
  }
}

test('a console that refreshes itself for a day leaves a few entries, which count all its reads', async () => {
  const it = openTrail()
  for (let at = 0; at < 86_400; at += 10) {
    for (const kind of ['activity', 'alerts', 'upstreams']) it.read(kind)
    await it.pass(10_000)
  }
  await it.pass(200_000)
  const entries = it.entries()
  for (const kind of ['activity', 'alerts', 'upstreams']) {
    const own = entries.filter((entry) => entry[2] === kind)
    expect(own.length).toBeLessThan(30)
    expect(own[0]).toEqual(['admin.read', 'ann', kind, undefined, 1])
    expect(own.reduce((sum, entry) => sum + Number(entry[4]), 0)).toBe(8_640)
  }
})

test('reads of something else, by somebody else, or after a minute without any, have their own entry at once', async () => {
  const it = openTrail()
  it.read('users', 'ann', 'bob')
  it.read('users', 'ann', 'bob')
  it.read('users', 'ann', 'cid')
  it.read('users', 'dan', 'bob')
  it.read('tokens', 'ann', 'bob')
  await it.pass(100)
  const first = [
    ['admin.read', 'ann', 'users', 'bob', 1],
    ['admin.read', 'ann', 'users', 'cid', 1],
    ['admin.read', 'dan', 'users', 'bob', 1],
    ['admin.read', 'ann', 'tokens', 'bob', 1],
  ]
  expect(it.entries()).toEqual(first)
  await it.pass(130_000)
  const counted = [...first, ['admin.read', 'ann', 'users', 'bob', 1]]
  expect(it.entries()).toEqual(counted)
  it.read('users', 'ann', 'bob')
  await it.pass(100)
  expect(it.entries()).toEqual([...counted, ['admin.read', 'ann', 'users', 'bob', 1]])
})

test('the end of the process writes what was counted', async () => {
  const it = openTrail()
  for (let nth = 0; nth < 5; nth++) it.read('audit')
  await it.audit.close()
  expect(it.entries()).toEqual([
    ['admin.read', 'ann', 'audit', undefined, 1],
    ['admin.read', 'ann', 'audit', undefined, 4],
  ])
})
