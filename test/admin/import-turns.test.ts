import { expect, test } from 'bun:test'
import { csvRecords } from '../../plugins/admin/user-import/csv-records.ts'
import { createUserImport } from '../../plugins/admin/user-import/user-import.ts'
import { turns } from '../../plugins/shared/background/turns.ts'

const importUsers = createUserImport(
  {
    teamByName: async () => undefined,
    rejectedUsers: async () => [],
    importUsers: () => Promise.reject(new Error('not called')),
  },
  { clock: { now: () => 1 }, recordAll: async () => {} },
)

test('a file of many users is read over several turns of the event loop', async () => {
  const outcomeOf = async (lines: number) => {
    const before = turns.count
    const names = Array.from({ length: lines }, () => 'ann')
    const outcome = await importUsers(new TextEncoder().encode(`name\n${names.join('\n')}\n`))
    return { wrong: 'wrong' in outcome && outcome.wrong.length, turns: turns.count - before }
  }
  expect(await outcomeOf(100)).toEqual({ wrong: 99, turns: 0 })
  expect(await outcomeOf(20_000)).toEqual({ wrong: 19_999, turns: 39 })
})

test('empty lines are skipped without a look at each of them as a record', () => {
  const indexOf = Uint8Array.prototype.indexOf
  let looks = 0
  Uint8Array.prototype.indexOf = function (...args) {
    looks++
    return indexOf.apply(this, args)
  }
  try {
    for (const end of ['\n', '\r\n']) {
      looks = 0
      const bytes = new TextEncoder().encode(`${end.repeat(10_000)}name${end.repeat(10_000)}ann${end.repeat(10_000)}\r`)
      expect([...csvRecords(bytes, ['name'], 'name')]).toEqual([{ line: 20_001, fields: { name: 'ann' } }])
      expect(looks).toBeLessThan(10)
    }
  } finally {
    Uint8Array.prototype.indexOf = indexOf
  }
})
