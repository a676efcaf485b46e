import { expect, test } from 'bun:test'
import { runBatches } from '../../plugins/asset-library/batches/run-batches.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'

test('a batch ends after its files: what fails or is killed before leaves a batch that goes on, and no files that count', async () => {
  const background = new Background({ sleep: () => new Promise((resolve) => setImmediate(resolve)) })
  const steps: string[] = []
  let isFailing = true
  const ended = Promise.withResolvers<void>()
  const store = {
    takeLease: async () => true,
    releaseLease: async () => {},
    dueAssetBatches: async () => [{ id: 'batch', user: 'ann' }],
    nextAssetBatchItem: async () => undefined,
    async assetBatchItems(_: string, { state }: { readonly state: string }) {
      if (isFailing) throw new Error('the database is not available')
      return [{ position: 1, body: JSON.stringify({ URL: `https://files.example/${state}.png` }) }]
    },
    async endAssetBatch() {
      steps.push('the batch ends')
      ended.resolve()
      return 'ended'
    },
    async postponeAssetBatch() {
      steps.push('the batch is put off')
      isFailing = false
    },
    sweepAssetBatches: async () => 0,
  }
  const files = {
    async end(urls: readonly string[], user: string) {
      steps.push(`${urls} of ${user} ends`)
    },
  }
  type Run = Parameters<typeof runBatches>
  runBatches(
    { clock: systemClock, log: noLog } as unknown as Run[0],
    {} as unknown as Run[1],
    { store, files } as unknown as Run[2],
    background,
  )
  await ended.promise
  await background.stop()
  expect(steps).toEqual([
    'the batch is put off',
    'https://files.example/created.png of ann ends',
    'https://files.example/cancelled.png of ann ends',
    'the batch ends',
  ])
})
