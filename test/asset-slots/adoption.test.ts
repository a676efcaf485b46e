import { expect, test } from 'bun:test'
import { maxAdopted } from '../../plugins/asset-library/slots/adopt.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { startEmulator } from '../../src/emulator/index.ts'
import { openStore } from '../../src/store/index.ts'
import { openProcess } from './fixture.ts'

test('a group with more assets than can be taken over is refused, and none of them is recorded', async () => {
  await using emulator = await startEmulator({ processingMs: 0 })
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const { id: group } = emulator.library.addGroup({ name: 'large' })
  await store.adoptGroup({ id: group, user: 'ann', type: 'AIGC', name: 'large', createdAt: 1 })
  const { id: small } = emulator.library.addGroup({ name: 'small' })
  await store.adoptGroup({ id: small, user: 'ann', type: 'AIGC', name: 'small', createdAt: 2 })
  const known = emulator.library.addAsset({ groupId: small }).id
  let left = Number.POSITIVE_INFINITY
  let pages = 0
  /** An upstream with as many pages of the large group as are left, of one asset each. */
  const pagesOfLarge = async (url: string, init: RequestInit): Promise<Response> => {
    if (!`${url}${init.body}`.includes(group)) return fetch(url, init)
    pages++
    const Id = `asset-20260101000000-${pages.toString(36).padStart(5, '0')}`
    const Items = [{ Id, GroupId: group, Status: 'Active', CreateTime: '2026-01-01T00:00:00Z' }]
    return Response.json({ Result: { Items, NextToken: --left > 0 ? `${pages}` : '' } })
  }
  const errors: object[] = []
  const log: Log = { ...noLog, error: (fields) => errors.push(fields) }
  const process = openProcess(store, emulator, { fetch: pagesOfLarge as typeof fetch, log })
  for (const path of [`/assets?GroupIds=${group}`, '/assets']) {
    const refused = await process.ask('ann', 'GET', path)
    expect([refused.status, refused.json.error.message]).toEqual([
      502,
      `the group has more than ${maxAdopted} assets from before the library had slots`,
    ])
  }
  // The second request has not read it again. What is not about the group works.
  expect(pages).toBe(maxAdopted / 100)
  expect(errors).toEqual([expect.objectContaining({ group, assets: maxAdopted / 100 })])
  expect(await store.unadoptedGroups([group])).toEqual([group])
  expect(await process.list('ann', `&GroupIds=${small}`)).toEqual([known])
  // Somebody has deleted most of them.
  await process.clock.pass(601_000)
  left = 3
  expect(await process.list('ann', `&GroupIds=${group}`)).toHaveLength(3)
  expect(await process.list('ann')).toHaveLength(4)
  await store.close()
}, 60_000)
