/** Runs with `--all`: a large random corpus, of which random-walks.test.ts runs the start. */
import { test } from 'bun:test'
import { checkWalks } from './random-walks.ts'

const lists = Number(process.env.SLUICE_LISTS ?? 60)

test(
  `a walk by token through ${lists} random lists visits every permanent row exactly once while others are added and removed`,
  () => checkWalks(21, lists),
  300_000,
)
