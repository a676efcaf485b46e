import { expect, test } from 'bun:test'
import { pick, seededRandom } from '../lists/fixture.ts'
import type { User } from '../support/gateway.ts'
import { repeats } from '../support/repetitions.ts'
import { openAccounts } from './fixture.ts'

const names = ['a', 'b', 'c']

interface Known {
  readonly id: string
  readonly user: User
  readonly account: number
  /** Of an asset: where it was created. It may move on its account. */
  readonly group?: string
}

/** All ids in a call of an emulator. */
const idsIn = (call: { readonly path: string; readonly body: string }): readonly string[] =>
  `${decodeURIComponent(call.path)} ${call.body}`.match(/(?:group|asset)-\d{14}-[a-z0-9]{5}/g) ?? []

/** Random requests of two users with ids of both, on three accounts of which each is full at times. */
const check = async (seed: number): Promise<number> => {
  const random = seededRandom(seed)
  await using fixture = await openAccounts({ names, emulator: () => ({ quota: 12 }) })
  const { ann, bob, emulators } = fixture
  const groups: Known[] = []
  const assets: Known[] = []
  const accountOf = new Map<string, number>()
  let crossing = 0

  /** What the emulators have been asked for, checked against where each id lives. */
  const checkCalls = (user: User, named: readonly (Known | undefined)[]): void => {
    for (const [index, { calls }] of emulators.entries()) {
      for (const call of calls) {
        for (const id of idsIn(call)) {
          const home = accountOf.get(id)
          if (home === undefined || home === index) continue
          // An asset without a record for its user is looked up on the accounts of that user.
          crossing++
          const foreign = named.some((known) => known?.id === id && known.user !== user)
          expect({ seed, action: call.action, id, home, index, foreign }).toMatchObject({
            action: 'GetAsset',
            foreign: true,
          })
        }
      }
      ;(calls as unknown[]).length = 0
    }
  }

  const note = (known: Known[], user: User, id: string, group?: string): void => {
    const account = emulators.findIndex(({ library }) => library.group(id) ?? library.asset(id))
    known.push({ id, user, account, ...(group !== undefined && { group }) })
    accountOf.set(id, account)
  }

  for (let step = 0; step < 120; step++) {
    const user = pick(random, [ann, bob]) ?? ann
    const group = pick(random, groups)
    const other = pick(random, groups)
    const asset = pick(random, assets)
    const isOwn = (known: Known | undefined) => known?.user === user
    const what = pick(random, ['group', 'group', 'asset', 'asset', 'asset', 'get', 'move', 'list', 'delete', 'remove'])
    if (what === 'group' && groups.length < 14) {
      const reply = await user.ask('POST', '/assets/groups', { Name: `group ${step}` })
      if (reply.status === 200) note(groups, user, reply.json.Result.Id)
      else expect([reply.status, reply.text]).toEqual([403, expect.stringContaining('QuotaExceeded')])
    } else if (what === 'asset' && group) {
      const wanted = {
        GroupId: group.id,
        URL: 'https://files.example/x.png',
        AssetType: 'Image',
        Name: `asset ${step}`,
      }
      const reply = await user.ask('POST', '/assets', wanted)
      if (reply.status === 200) note(assets, user, reply.json.Result.Id, group.id)
      if (!isOwn(group)) expect(reply.status).toBe(403)
    } else if (what === 'get' && asset) {
      const reply = await user.ask('GET', `/assets/${asset.id}`)
      if (!isOwn(asset)) expect(reply.status).toBe(403)
    } else if (what === 'move' && asset && other) {
      const reply = await user.ask('PUT', `/assets/${asset.id}`, { GroupId: other.id, Name: 'moved' })
      if (!isOwn(asset) || !isOwn(other)) expect(reply.status).toBe(403)
      else if (asset.account !== other.account) expect(reply.status).toBe(400)
    } else if (what === 'list') {
      const own = assets.filter(({ user: owner }) => owner === user)
      const alive = own.filter(({ id, account }) => emulators[account]?.library.asset(id))
      const { json } = await user.ask('GET', '/assets?PageSize=100')
      const listed: readonly string[] = json.Result.Items.map(({ Id }: { Id: string }) => Id)
      expect([...listed].sort()).toEqual(alive.map(({ id }) => id).sort())
      expect(json.Result.TotalCount).toBe(alive.length)
    } else if (what === 'delete' && asset) {
      const reply = await user.ask('DELETE', `/assets/${asset.id}`)
      if (!isOwn(asset)) expect(reply.status).toBe(403)
    } else if (what === 'remove' && group && random() < 0.3) {
      const reply = await user.ask('DELETE', `/assets/groups/${group.id}`)
      expect(reply.status).toBe(isOwn(group) ? 200 : 403)
      if (!isOwn(group)) continue
      groups.splice(groups.indexOf(group), 1)
      // The records of its assets are gone too: they are nobody's.
      for (const { id, group: home } of assets) if (home === group.id) accountOf.delete(id)
    }
    checkCalls(user, [group, other, asset])
  }
  return crossing
}

test('no id reaches an account where it does not live, in random requests of two users', async () => {
  let crossing = 0
  for (let seed = 1; seed <= repeats(2, 6); seed++) crossing += await check(seed)
  // Look-ups of foreign assets, which are the exception.
  expect(crossing).toBeGreaterThan(0)
}, 120_000)
