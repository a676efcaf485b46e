import type { FetchHandler } from '../../../plugins/concurrency-limits/index.ts'
import type { VideoServiceOptions } from '../../../plugins/video-generation/index.ts'
import { openStore, type Store } from '../../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from '../../support/database.ts'
import { openVideoFixture, type VideoFixture, type VideoUser, videoUser } from '../../video-generation/fixture.ts'

/** A gateway and its users. */
export interface Fixture extends AsyncDisposable {
  readonly video: VideoFixture
  /** Three new users, who have nothing. */
  newUsers(): Promise<readonly VideoUser[]>
}

/** Parts of a gateway with a defect. */
export type Mutant = (parts: { readonly store: Store }) => {
  readonly store?: Store
  readonly options?: Partial<VideoServiceOptions>
  readonly around?: (handle: FetchHandler) => FetchHandler
}

export const identifierSecret = 'a secret of the test suite'

/** @param slots whether tasks wait in a queue */
export const openFixture = async (
  kind: TestDatabase['kind'],
  { slots = false, mutant }: { readonly slots?: boolean; readonly mutant?: Mutant | undefined } = {},
): Promise<Fixture> => {
  const database = await migratedDatabase(kind)
  const store = openStore(database.url, { deadlineMs: 60_000 })
  const mutated = mutant?.({ store }) ?? {}
  const video = await openVideoFixture({
    store: mutated.store ?? store,
    ...(mutated.around && { more: { around: mutated.around } }),
    video: { maxRunning: { '*': 1_000 }, maxQueued: 1_000_000 },
    gateway: {
      ...{ identifierSecret, pollMs: 5, createTimeoutMs: 2_000, settleWaitMs: 4_000 },
      ...(slots && { slots: { '*': { running: 3 } } }),
      ...mutated.options,
    },
  })
  let users = 0
  return {
    video,
    newUsers: () =>
      Promise.all(
        ['ann', 'bob', 'cid'].map(async () => videoUser(video.gateway, await video.gateway.addUser(`user ${users++}`))),
      ),
    async [Symbol.asyncDispose]() {
      await video[Symbol.asyncDispose]()
      await store.close()
      await database.remove()
    },
  }
}
