import { openStore } from '../../src/store/index.ts'

// A process that `concurrent-start.test.ts` starts: claims names and leases claims on the given database, and prints what it got.
const store = openStore(process.argv[2] ?? '')
await store.migrate()
const claimed: string[] = []
for (let index = 0; index < 40; index++) {
  const name = String(index)
  if (await store.claim({ user: 'u', type: 'AIGC', name, createdAt: index, dueAt: 10 })) claimed.push(name)
}
const leased = (await store.lease(10, Date.now() + 60_000)).map((claim) => claim.id)
console.log(JSON.stringify({ claimed, leased, secret: await store.secret('session') }))
await store.close()
process.exit(0)
