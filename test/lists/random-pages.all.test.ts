/** Runs with `--all`: a large random corpus, of which random-pages.test.ts runs the start. */
import { test } from 'bun:test'
import { checkPages } from './random-pages.ts'

const lists = Number(process.env.SLUICE_LISTS ?? 60)

test(`any page of ${lists} random lists equals the sorted and sliced rows`, () => checkPages(11, lists), 300_000)
