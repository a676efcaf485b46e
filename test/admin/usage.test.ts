import { beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../src/store/index.ts'
import { runCommand } from '../support/admin-command.ts'
import { repeatOnDatabases } from '../support/database.ts'

repeatOnDatabases('admin usage', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })

  const run = (...args: readonly string[]) => runCommand(store, args, { clock: { now: () => 1 } })

  const recordUsage = (
    user: string,
    day: number,
    more: { token?: string; model?: string; reported?: boolean; cost?: number } = {},
  ) =>
    store.recordUsage({
      ...{ user, token: more.token, model: more.model ?? 'm-1', at: Date.UTC(2026, 8, day, 23, 59) },
      cost: more.cost,
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

  test('the cost is the sum of the calls with a price, and absent where none has one', async () => {
    const name = randomUUID()
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    await recordUsage(user, 1, { cost: 10_500_000_000 })
    await store.flushUsage()
    await recordUsage(user, 1, { cost: 1 })
    await recordUsage(user, 2)
    await store.flushUsage()
    await recordUsage(user, 2)
    await recordUsage(user, 3)
    await store.flushUsage()
    await recordUsage(user, 3, { cost: 200 })
    const costs = (await run('usage', name)).out.map((line) => line.split('\t').slice(11))
    expect(costs).toEqual([['cost 10.500000001'], [], ['cost 0.0000002']])
  })

  test('--json prints an object per line', async () => {
    const name = randomUUID()
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    await recordUsage(user, 1, { cost: 250_000_000, model: 'a\u202eb' })
    await recordUsage(user, 2, { reported: false })
    const { out } = await run('usage', name, '--json')
    expect(out[0]).toContain('a\\u202eb')
    const of = { user: name, user_id: user, calls: 1 }
    const counts = { input_tokens: 1_000, cached_tokens: 400, output_tokens: 50, reasoning_tokens: 30 }
    const none = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 }
    expect(out.map((line) => JSON.parse(line))).toEqual([
      { day: '2026-09-01', ...of, model: 'a\u202eb', unreported: 0, ...counts, cost: 0.25 },
      { day: '2026-09-02', ...of, model: 'm-1', unreported: 1, ...none },
    ])
  })

  test('--csv prints a header and quoted values, of which none is a formula', async () => {
    const name = `=ann${randomUUID()}`
    const user = (await store.addUser({ name, createdAt: 1 })) ?? ''
    const made = { user, start: 'sk-abcdef', createdAt: 1 }
    const token = await store.addToken({ ...made, hash: randomUUID(), label: 'my "old", laptop' })
    await recordUsage(user, 1, { token, cost: 250_000_000 })
    await recordUsage(user, 2, { model: '-1+1' })
    expect((await run('usage', name, '--csv')).out).toEqual([
      'day,user,user_id,token,token_label,token_start,model,calls,unreported,input_tokens,cached_tokens,output_tokens,reasoning_tokens,cost,video_seconds',
      `2026-09-01,'${name},${user},${token},"my ""old"", laptop",sk-abcdef,m-1,1,0,1000,400,50,30,0.25,`,
      `2026-09-02,'${name},${user},,,,'-1+1,1,0,1000,400,50,30,,`,
    ])
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
    ['usage', '--json', '--csv'],
    ['usage', '--json=yes'],
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
