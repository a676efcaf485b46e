import { expect } from 'bun:test'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { migratedDatabase, type TestDatabase } from '../support/database.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'
import { until } from '../support/until.ts'

export { until }

export const batchesPath = '/assets/batches'

/** A gateway that works on batches, with two users. Leases and pauses end only by `pass`. */
export interface BatchFixture extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly emulator: Emulator
  readonly store: Store
  readonly ann: User
  readonly bob: User
  readonly options: TestGatewayOptions
  pass(ms: number): void
  /** Ends the work in the background, as a killed process does. */
  stop(): Promise<boolean>
  /** Calls of `CreateAsset` that the upstream has got. */
  creations(): number
}

export const openBatchFixture = async (
  kind: TestDatabase['kind'],
  more: TestGatewayOptions = {},
  emulated: EmulatorOptions = {},
): Promise<BatchFixture> => {
  const emulator = await startEmulator({ processingMs: 0, ...emulated })
  const database = await migratedDatabase(kind)
  const store = openStore(database.url, { deadlineMs: 60_000 })
  const background = new Background()
  let offset = 0
  const clock = { ...systemClock, now: () => Date.now() + offset }
  const files = more.files && { clock, ...more.files }
  const options = { emulator, store, clock, events: store, ...more, ...(files && { files }) }
  const gateway = await startGateway({ ...options, background })
  return {
    ...{ gateway, emulator, store, options, ann: await gateway.addUser('ann'), bob: await gateway.addUser('bob') },
    pass(ms) {
      offset += ms
    },
    stop: () => background.stop(),
    creations: () => emulator.calls.filter(({ action }) => action === 'CreateAsset').length,
    async [Symbol.asyncDispose]() {
      emulator.faults.clear()
      await background.stop()
      await gateway[Symbol.asyncDispose]()
      await store.close()
      await database.remove()
      await emulator.stop()
    },
  }
}

export const itemOf = (name: string, more: object = {}): object => ({
  ...{ URL: `https://files.example/${name}.png`, AssetType: 'Image', Name: name },
  ...more,
})

export const linesOf = (items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join('\n')

const ndjson = { 'content-type': 'application/x-ndjson' }

export const postBatch = (user: User, group: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  user.ask('POST', `${batchesPath}?GroupId=${group}`, body, { ...ndjson, ...headers })

/** Creates a batch, and returns its id. */
export const newBatch = async (user: User, group: string, items: readonly object[]): Promise<string> => {
  const reply = await postBatch(user, group, linesOf(items))
  expect([reply.status, reply.text]).toEqual([202, expect.any(String)])
  return reply.json.Result.Id
}

export const progressOf = async (user: User, id: string) => (await user.ask('GET', `${batchesPath}/${id}`)).json.Result

/** All items of a batch, in pages. */
export const itemsOf = async (user: User, id: string) => {
  const items: { Position: number; Name: string; State: string; AssetId?: string; Error?: { Code: string } }[] = []
  for (let next = ''; ; ) {
    const { json } = await user.ask('GET', `${batchesPath}/${id}/items?MaxResults=7&NextToken=${next}`)
    items.push(...json.Result.Items)
    next = json.Result.NextToken
    if (next === '') return items
  }
}

export const ended = (user: User, id: string): Promise<void> =>
  until(async () => (await progressOf(user, id)).State === 'Ended')

/** The same, while pauses and leases end. */
export const endedMeanwhile = ({ ann, pass }: Pick<BatchFixture, 'ann' | 'pass'>, id: string): Promise<void> =>
  until(async () => {
    pass(11_000)
    return (await progressOf(ann, id)).State === 'Ended'
  })
