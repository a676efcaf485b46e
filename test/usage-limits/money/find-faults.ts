/** Runs the simulations in this process, and prints what they find as JSON. For mutated copies of the sources. */
import { openStore } from '../../../src/store/index.ts'
import { findViolations } from './find-violations.ts'

const found: string[] = []
for (let seed = 1; seed <= 6 && found.length === 0; seed++) {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  found.push(...(await findViolations(seed, [store.limits, store.limits]).catch((error) => [String(error)])))
  await store.close()
}
console.log(JSON.stringify(found))
