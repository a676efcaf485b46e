import { beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { watchAssets } from '../../plugins/asset-library/watch/asset-watch.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { delay } from '../../plugins/shared/background/delay.ts'
import { readJson } from '../../plugins/shared/json/json.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import {
  type Operation,
  UpstreamInvalidError,
  UpstreamRejectedError,
  UpstreamUnreachableError,
} from '../../plugins/upstream-proxy/index.ts'
import type { Store } from '../../src/store/index.ts'
import { repeatOnDatabases } from '../support/database.ts'

const rejected = (status: number) =>
  new UpstreamRejectedError({ status, headers: new Headers(), bytes: new Uint8Array(0) })

const failures: Readonly<Record<string, Error>> = {
  'is too large or no JSON': new UpstreamInvalidError('the response is too large'),
  'is a 400': rejected(400),
  'is a 500': rejected(500),
  'never comes': new UpstreamUnreachableError(new Error('no response in time'), true),
}

repeatOnDatabases('assets in progress', (database) => {
  let store: Store
  beforeAll(async () => {
    store = await database.open()
  })
  /**
   * Watches assets, of which the first is due for the longest time. The upstream has processed them all, but a call that is about the group of the first, or
   * about the asset, fails.
   */
  const watch = async (count: number, failure: Error, events: Partial<Store> = {}) => {
    const assets = Array.from({ length: count }, () => randomUUID())
    const groupOf = (asset: string) => `group-${asset}`
    const [poisoned = '', ...others] = assets
    const state = { failure: failure as Error | undefined }
    for (const [index, asset] of assets.entries()) {
      const change = { type: 'asset.processing', data: '{}', at: Date.now() } as const
      const added = { asset, group: groupOf(asset), user: `user of ${asset}`, createdAt: Date.now() }
      await store.watchAsset({ ...added, dueAt: 1 + index }, change)
    }
    const itemOf = (asset: string) => ({ Id: asset, GroupId: groupOf(asset), Status: 'Active' })
    const responseOf = (Result: object) => {
      const json = readJson(new TextEncoder().encode(JSON.stringify({ Result })))
      return { json, fields: json.value() }
    }
    const send = async (operation: Operation) => {
      const text = JSON.stringify(operation)
      if (state.failure && text.includes(poisoned)) throw state.failure
      if (operation.action === 'GetAsset') return responseOf(itemOf(String(operation.id)))
      return responseOf({ Items: assets.filter((asset) => text.includes(groupOf(asset))).map(itemOf) })
    }
    const background = new Background({ sleep: (ms, signal) => delay(Math.min(ms, 5), signal) })
    let time = Date.now()
    const owners = { group: async (_: string, id: string) => ({ id, type: 'AIGC' }) }
    type Watched = Parameters<typeof watchAssets>
    watchAssets(
      { upstream: { send }, clock: { now: () => (time += 1_000) }, log: noLog } as unknown as Watched[0],
      { ...store, ...events },
      owners as unknown as Watched[2],
      background,
    )
    const typesOf = async (asset: string) =>
      (await store.eventsOf(`user of ${asset}`, 0, 10)).map(({ type }) => type).slice(1)
    return {
      ...{ poisoned, others, typesOf, state },
      async [Symbol.asyncDispose]() {
        await background.stop()
        for (const asset of assets) await store.endAssetWatch(asset)
      },
    }
  }
  const until = async (isTrue: () => Promise<boolean>) => {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  describe('whose upstream response for one of them', () => {
    // Of two, each is read alone: a 400 then means that the asset does not exist.
    for (const [what, failure] of Object.entries(failures))
      for (const count of what === 'is a 400' ? [5] : [2, 5])
        test(`${what}: the others of ${count} are told, and that one when it can be read again`, async () => {
          await using watched = await watch(count, failure)
          const { poisoned, others, typesOf, state } = watched
          for (const asset of others) await until(async () => (await typesOf(asset)).includes('asset.active'))
          expect(await typesOf(poisoned)).toEqual([])
          state.failure = undefined
          await until(async () => (await typesOf(poisoned)).includes('asset.active'))
        })
  })

  let refused = ''
  test('of which the store does not accept the end of one: the others are told', async () => {
    await using watched = await watch(3, rejected(400), {
      async endAssetWatch(asset, change) {
        if (asset === refused) throw new Error('not accepted')
        return store.endAssetWatch(asset, change)
      },
    })
    refused = watched.poisoned
    watched.state.failure = undefined
    for (const asset of watched.others) await until(async () => (await watched.typesOf(asset)).includes('asset.active'))
    expect(await watched.typesOf(watched.poisoned)).toEqual([])
    refused = ''
    await until(async () => (await watched.typesOf(watched.poisoned)).includes('asset.active'))
  })
})
