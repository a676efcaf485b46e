import { randomUUID } from 'node:crypto'
import { openStore } from '../../src/store/index.ts'

// A process that `writers.test.ts` starts: it writes `count` batches of entries, and prints the target of each entry
// when its batch is written.
const [url = '', count = ''] = process.argv.slice(2)
const store = openStore(url, { deadlineMs: 20_000 })
for (let batch = 0; batch < Number(count); batch++) {
  const targets = Array.from({ length: 1 + (batch % 13) }, () => randomUUID())
  await store.recordAudit(
    targets.map((target) => ({
      id: randomUUID(),
      at: Date.now(),
      action: 'asset.create',
      user: 'u',
      target,
      times: 1,
    })),
  )
  process.stdout.write(`${targets.join('\n')}\n`)
}
await store.close()
process.exit(0)
