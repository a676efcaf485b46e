import { test } from 'bun:test'
import { checkWalks } from './random-walks.ts'

test(
  'a walk by token through a few random lists visits every permanent row exactly once while others are added and removed',
  () => checkWalks(1, 20),
  300_000,
)
