import { test } from 'bun:test'
import { checkLibraries } from './random-libraries.ts'

test(
  'every list of a few random libraries equals the sorted, filtered and sliced items',
  () => checkLibraries(1, 3),
  300_000,
)
