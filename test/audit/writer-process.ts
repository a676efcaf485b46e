import { randomUUID } from 'node:crypto'
import { type NewAuditEntry, openStore } from '../../src/store/index.ts'

// A process that `writers.test.ts` starts: it writes `count` batches of entries, and prints the target of each entry
// when its batch is written. Like the audit trail, it tries a batch again that another process has kept from the lock
// for too long.
const [url = '', count = ''] = process.argv.slice(2)
const store = openStore(url, { deadlineMs: 60_000 })

const write = async (entries: readonly NewAuditEntry[], attempts = 30): Promise<void> => {
  try {
    await store.recordAudit(entries)
  } catch (error) {
    if (attempts === 0) throw error
    await write(entries, attempts - 1)
  }
}

for (let batch = 0; batch < Number(count); batch++) {
  const targets = Array.from({ length: 1 + (batch % 13) }, () => randomUUID())
  await write(
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
  // Lets the others have the lock of SQLite, which is not fair.
  await new Promise((resolve) => setTimeout(resolve, 2))
}
await store.close()
process.exit(0)
