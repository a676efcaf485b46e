/** Runs the simulations in this process up to the first violation, and prints it as JSON. For mutated copies of the sources. Argument: the seed to begin with. */
import { openStore } from '../../../src/store/index.ts'
import { violationsOf } from './find-violations.ts'

const firstOf = async (seed: number): Promise<string | undefined> => {
  const store = openStore('sqlite::memory:')
  try {
    await store.migrate()
    const { value } = await violationsOf(seed, [store.limits, store.limits]).next()
    return value
  } catch (error) {
    return String(error)
  } finally {
    await store.close()
  }
}

const seeds = 6
const first = Number(process.argv[2] ?? 1)
let found: string | undefined
for (let seed = first; seed < first + seeds && found === undefined; seed++) found = await firstOf(seed)
console.log(JSON.stringify(found === undefined ? [] : [found]))
