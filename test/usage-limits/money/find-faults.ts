/** Runs the simulations in this process up to the first violation, and prints it as JSON. For mutated copies of the sources. Arguments: the seeds. */
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

let found: string | undefined
for (const seed of process.argv.slice(2)) found ??= await firstOf(Number(seed))
console.log(JSON.stringify(found === undefined ? [] : [found]))
