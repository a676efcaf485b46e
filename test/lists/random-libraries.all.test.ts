/** Runs with `--all`: a large random corpus, of which random-libraries.test.ts runs the start. */
import { test } from 'bun:test'
import { checkLibraries } from './random-libraries.ts'

const libraries = Number(process.env.SLUICE_LIBRARIES ?? 20)

test(
  `every list of ${libraries} random libraries equals the sorted, filtered and sliced items`,
  () => checkLibraries(4, libraries),
  600_000,
)
