/** Runs with `--all`: a process of Deno for each example. programs.test.ts has all of them on Bun, and some on Deno. */
import { describePrograms, exchanges } from './programs.ts'

describePrograms('all-examples', { bun: [], deno: Object.keys(exchanges) })
