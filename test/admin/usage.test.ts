import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { runAdmin } from '../../src/admin.ts'
import type { Store } from '../../src/store/index.ts'
import { eachDatabase } from '../support/database.ts'

eachDatabase('admin usage', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = async (...args: readonly string[]) => {
    const out: string[] = []
    const err: string[] = []
    const status = await runAdmin(args, {
      store,
      out: (line) => out.push(line),
      err: (line) => err.push(line),
      stdin: async () => '',
      clock: { now: () => 1 },
    })
    return { status, out, err }
  }

  const recordUsage = (user: string, day: number, more: { token?: string; model?: string; reported?: boolean } = {}) =>
    store.recordUsage({
      ...{ user, token: more.token, model: more.model ?? 'm-1', at: Date.UTC(2026, 8, day, 23, 59) },
      tokens: more.reported === false ? undefined : { input: 1_000, cachedInput: 400, output: 50, reasoning: 30 },
    })

  test('calls and tokens are listed by user, token, model and day, of one user or of all', async () => {
    const [ann, host] = [`ann-${randomUUID()}`, `host-${randomUUID()}`]
    const user = (await store.addUser({ name: ann, createdAt: 1 })) ?? ''
    const made = { user, start: 'sk-abcdef', createdAt: 1 }
    const labelled = await store.addToken({ ...made, hash: randomUUID(), label: 'my laptop' })
    await recordUsage(user, 21, { token: labelled })
    await recordUsage(user, 21, { token: labelled, reported: false })
    await recordUsage(user, 22)
    await recordUsage(host, 21, { token: 'unknown', model: 'm\t2' })
    const counted = 'input 1000\tcached 400\toutput 50\treasoning 30'
    const mine = [
      `2026-09-21\t${ann}\tmy laptop\tsk-abcdef…\tm-1\tcalls 2\tunreported 1\t${counted}`,
      `2026-09-22\t${ann}\t-\t-\tm-1\tcalls 1\tunreported 0\t${counted}`,
    ]
    const foreign = `2026-09-21\t${host}\t-\tunknown\tm\ufffd2\tcalls 1\tunreported 0\t${counted}`
    expect(await run('usage', ann)).toEqual({ status: 0, out: mine, err: [] })
    const [first = '', second = ''] = mine
    expect((await run('usage')).out).toEqual([first, foreign, second])
  })

  test('days are filtered by the first and the last day', async () => {
    const name = randomUUID()
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    for (const day of [1, 2, 3, 4]) await recordUsage(user, day)
    const days = async (...flags: readonly string[]) =>
      (await run('usage', name, ...flags)).out.map((line) => line.slice(0, 10))
    expect(await days('--since', '2026-09-02', '--until', '2026-09-03')).toEqual(['2026-09-02', '2026-09-03'])
    expect(await days('--since=2026-09-04')).toEqual(['2026-09-04'])
    expect(await days('--until=2026-09-01')).toEqual(['2026-09-01'])
    const all = await run('usage', '--since', '2026-09-03', '--until', '2026-09-03')
    expect(all.out).toHaveLength(1)
  })

  test('an unknown user is an error', async () => {
    expect(await run('usage', 'nobody')).toEqual({ status: 1, out: [], err: ['there is no user named nobody'] })
  })

  const wrong: readonly (readonly string[])[] = [
    ['usage', '--since', 'yesterday'],
    ['usage', '--since', ''],
    ['usage', '--since', '2026-9-1'],
    ['usage', '--since', '2026-02-30'],
    ['usage', '--since', '2026-13-01'],
    ['usage', '--since', '2026-09-21T00:00'],
    ['usage', '--until', '+2026-09-21'],
    ['usage', '--until', ''],
    ['usage', '--until', '2025-02-29'],
    ['usage', '--since', '2026-09-02', '--until', '2026-09-01'],
    ['usage', '--since'],
    ['usage', '--label', 'x'],
    ['usage', 'ann', 'bob'],
    ['usage list'],
    ['user list', 'x'],
    ['Usage'],
    ['toString'],
    ['__proto__'],
  ]
  for (const args of wrong) {
    test(`${JSON.stringify(args)} is a usage error`, async () => {
      const { status, out, err } = await run(...args)
      expect(status).toBe(2)
      expect(out).toEqual([])
      expect(err.at(-1)).toStartWith('usage: admin COMMAND')
    })
  }

  test('the usage text contains the command', async () => {
    expect((await run()).err.at(-1)).toContain('usage [NAME] [--since DATE] [--until DATE]')
  })
})
