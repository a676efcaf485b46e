import { test } from 'bun:test'
import { repeats } from '../support/repetitions.ts'
import { checkLibraries } from './random-libraries.ts'

test(
  'every list of a few random libraries equals the sorted, filtered and sliced items',
  () => checkLibraries(1, repeats(2, 3)),
  300_000,
)

test(
  'and so does every list of libraries whose groups are on three accounts, some from before there were several',
  () => checkLibraries(4, repeats(5, 7), 3),
  300_000,
)
