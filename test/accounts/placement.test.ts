import { expect, setDefaultTimeout, test } from 'bun:test'
import { createPlacement } from '../../plugins/asset-library/accounts/placement.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { ark, createUpstream } from '../../plugins/upstream-proxy/index.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { type AccountsFixture, groupOn, openAccounts } from './fixture.ts'

setDefaultTimeout(60_000)

const credentials = { url: 'https://ark.example', accessKey: 'AK', secretKey: 'a-secret', region: 'cn-beijing' }

/** Creates groups. Resolves with the accounts that have them. */
const place = async ({ ann, store }: AccountsFixture, count: number): Promise<readonly (string | undefined)[]> => {
  const accounts: (string | undefined)[] = []
  for (let nth = 0; nth < count; nth++) {
    const reply = await ann.ask('POST', '/assets/groups', { Name: `group ${crypto.randomUUID()}` })
    expect([reply.status, reply.text]).toEqual([200, reply.text])
    accounts.push((await store.group(reply.json.Result.Id))?.account)
  }
  return accounts
}

const callsOf = ({ emulators }: AccountsFixture, index: number): number =>
  emulators[index]?.calls.filter(({ action }) => action === 'CreateAssetGroup').length ?? 0

test('a new group of a user goes to an account where the user has one', async () => {
  for (const account of ['a', 'b']) {
    await using fixture = await openAccounts()
    await groupOn(fixture, fixture.ann, account, 'the first')
    expect(await place(fixture, 3)).toEqual([account, account, account])
  }
})

test('a full account is not asked when its slots are known, and passed over when it refuses', async () => {
  await using known = await openAccounts({ account: (index) => ({ slots: [2, 10][index] ?? 0 }) })
  await groupOn(known, known.ann, 'a', 'one')
  known.emulators[0]?.library.addAsset({ groupId: await groupOn(known, known.bob, 'a', 'two') })
  expect(await place(known, 2)).toEqual(['b', 'b'])
  expect(callsOf(known, 0)).toBe(0)

  await using unknown = await openAccounts({ emulator: (index) => (index === 0 ? { quota: 2 } : {}) })
  for (const user of [unknown.ann, unknown.bob]) await groupOn(unknown, user, 'a', 'one')
  expect(await place(unknown, 1)).toEqual(['b'])
  // For a minute nobody asks it first.
  expect(await place({ ...unknown, ann: unknown.bob }, 1)).toEqual(['b'])
  expect(callsOf(unknown, 0)).toBe(1)
})

test('an account that says that it takes no more groups is passed over, and none waits for its answer', async () => {
  const asked: string[] = []
  const answers = new Map<string, PromiseWithResolvers<object>>()
  const send = ({ action, account = '' }: { readonly action: string; readonly account?: string }) => {
    asked.push(`${action} ${account}`)
    const answer = Promise.withResolvers<object>()
    answers.set(account, answer)
    return answer.promise
  }
  type Options = Parameters<typeof createPlacement>[0]
  const placement = createPlacement({
    ...{ clock: { now: () => 1_000_000 }, log: noLog, store: {} },
    accounts: ['a', 'b'].map((name) => ({ name, kind: ark(credentials) })),
    upstream: { accounts: { names: ['a', 'b'], waitMs: () => 0 }, send } as unknown as Options['upstream'],
    owners: { groupsOf: async () => [{ account: 'a' }] } as unknown as Options['owners'],
  })
  const placed = () => placement.place('ann', async (account) => account)
  expect(await placed()).toBe('a')
  answers.get('a')?.resolve({ fields: { Result: { aigc_writable: false } } })
  answers.get('b')?.reject(new Error('this account does not answer'))
  await answers.get('b')?.promise.catch(() => {})
  expect(await placed()).toBe('b')
  expect(asked).toEqual(['GetAssetQuota a', 'GetAssetQuota b'])
})

test('the kind ark reads the quota of its account', async () => {
  for (const [quota, writable] of [
    [1, true],
    [0, false],
  ] as const) {
    await using emulator = await startEmulator({ quota })
    const { fields } = await createUpstream({ kind: ark(emulator.ark) }).send({ action: 'GetAssetQuota' })
    expect(fields?.Result).toMatchObject({ aigc_writable: writable })
  }
})

test('when all accounts are full, the refusal of the upstream is the answer, and the name is free again', async () => {
  await using fixture = await openAccounts({ emulator: () => ({ quota: 0 }) })
  for (let nth = 0; nth < 2; nth++) {
    const reply = await fixture.ann.ask('POST', '/assets/groups', { Name: 'one' })
    expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('QuotaExceeded')])
  }
  expect(await fixture.store.openClaims()).toEqual([])
})

test('an account without a slot of its rate limit, and one that does not respond, are passed over', async () => {
  await using limited = await openAccounts({
    account: (index) => (index === 0 ? { perSecond: { CreateAssetGroup: 0.01 } } : {}),
    gateway: { limits: { perSecond: {}, queueMs: 10 } },
  })
  await groupOn(limited, limited.ann, 'a', 'one')
  expect(await place(limited, 3)).toEqual(['a', 'b', 'b'])

  await using down = await openAccounts()
  await groupOn(down, down.ann, 'a', 'one')
  await down.emulators[0]?.stop()
  expect(await place(down, 2)).toEqual(['b', 'b'])
})

test('a creation whose answer was lost is not repeated on another account', async () => {
  await using fixture = await openAccounts()
  await groupOn(fixture, fixture.ann, 'a', 'one')
  fixture.emulators[0]?.faults.add({ kind: 'reset-after', action: 'CreateAssetGroup' })
  const reply = await fixture.ann.ask('POST', '/assets/groups', { Name: 'lost' })
  expect([reply.status, reply.json.error.message]).toEqual([502, 'Seedance upstream unavailable: account a'])
  expect(callsOf(fixture, 1)).toBe(0)
  expect(await fixture.store.openClaims()).toMatchObject([{ name: 'lost', account: 'a' }])
})

test('the groups of users without one spread over the accounts', async () => {
  await using fixture = await openAccounts({ names: ['a', 'b', 'c'] })
  const seen = new Set<string | undefined>()
  for (let nth = 0; nth < 40 && seen.size < 3; nth++) {
    const ann = await fixture.gateway.addUser(`user ${nth}`)
    for (const account of await place({ ...fixture, ann }, 1)) seen.add(account)
  }
  expect(seen.size).toBe(3)
})
