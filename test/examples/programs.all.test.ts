/** Runs with `--all`: a process of Deno for each example. programs.test.ts has them on Bun. */
import { describePrograms, exchanges } from './programs.ts'

describePrograms('all-examples', { bun: [], deno: Object.keys(exchanges) })
