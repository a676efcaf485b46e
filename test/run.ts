/** The README's test command: types, lint, then the tests; with `--all` also the long ones. Ends with one line `N passed, N failed, N skipped`. */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { longTests, readArguments } from './runner/arguments.ts'
import { OutsideErrors } from './runner/outside-errors.ts'
import { readReport, type TestReport } from './runner/report.ts'
import './support/temporary-files.ts'

interface Outcome {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

interface Run {
  /** Whether it exited with status 0. */
  readonly ok: boolean
  /** The files during which an error was thrown outside of all tests. */
  readonly outside: ReadonlySet<string>
}

const selection = readArguments(process.argv.slice(2))

/** Runs this runtime and shows what it prints. */
const run = (...args: readonly string[]): Promise<Run> =>
  new Promise((resolve) => {
    console.log(`\n$ bun ${args.join(' ')}`)
    const env = { ...process.env, ...selection.environment, SLUICE_RUN_FOLDER: tmpdir() }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const errors = new OutsideErrors(process.cwd())
    for (const [input, output] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ] as const) {
      createInterface({ input }).on('line', (line) => {
        if (output === process.stderr) errors.read(line)
        output.write(`${line}\n`)
      })
    }
    child.on('error', () => resolve({ ok: false, outside: new Set(['']) }))
    child.on('close', (code) => resolve({ ok: code === 0, outside: errors.files }))
  })

const check = async (script: string): Promise<Outcome> => {
  const { ok } = await run('run', script)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 }
}

/**
 * The runner's limit of 5 seconds a test is meant for one test file at a time. Here several files run at once, on a machine that may be busy with other work; no test
 * measures time against that limit. It is long, because a test that reaches it ends more than itself: the runner then kills all processes that the tests of its
 * process have started, also the PostgreSQL of the files that follow.
 */
const timeout = '--timeout=300000'

const test = async (...args: readonly string[]): Promise<Run & { report: TestReport }> => {
  const file = join(mkdtempSync(join(tmpdir(), 'report-')), 'report.xml')
  const outcome = await run('test', timeout, '--reporter=junit', `--reporter-outfile=${file}`, ...args)
  return { ...outcome, report: readReport(existsSync(file) ? readFileSync(file, 'utf8') : '') }
}

const maxFilesRunAgain = 12

/** How long each file took, in milliseconds: the longest begin first. Else a long one that begins late would run alone in the end. `--update-timings` writes it. */
const timings = 'test/runner/timings.json'

/**
 * Runs the tests, five files at a time, because many wait for timers; each of the processes has one PostgreSQL for all its files. With the long tests it is seven,
 * which wait for other processes, for browsers and for leases: five keep two processors busy for little more than half of the time. Then runs each file that
 * failed, if there are few, once more and alone. A fault fails both times, also one outside of the tests, such as a rejection that nothing
 * awaits. A test that fails only beside others, because the machine was busy, is printed as one to be mended, and does not fail the run.
 */
const tests = async (): Promise<Outcome> => {
  const order = ['--parallel-delay=0', `--timings=${timings}`]
  const first = await test(`--parallel=${selection.all ? 7 : 5}`, '--no-isolate', ...order, ...selection.args)
  const { failuresByFile, skipped, skippedByReason } = first.report
  /** Number of failures by file. An error outside of its tests is one. */
  const failures = new Map(failuresByFile)
  for (const file of first.outside) failures.set(file, (failures.get(file) ?? 0) + 1)
  let passed = first.report.passed
  let failed = first.report.failed + first.outside.size
  // The runner failed for something that is of no file, such as a filter that matches nothing, or of one that is not known.
  const broken = first.outside.has('') || passed + failed === 0 || (!first.ok && failed === 0)
  const unsteady: string[] = []
  for (const [file, count] of broken || failures.size > maxFilesRunAgain ? [] : failures) {
    if (!(await test(`./${file}`)).ok) continue
    unsteady.push(`${file} (${count})`)
    passed += failuresByFile.get(file) ?? 0
    failed -= count
  }
  for (const [reason, count] of skippedByReason) console.log(`skipped ${count}: ${reason}`)
  for (const file of unsteady) console.log(`failed beside others and passed alone, to be mended: ${file}`)
  if (!selection.all)
    console.log(
      `not run: ${globSync(`test/${longTests}`).length} files of long tests, and repetitions on further databases, runtimes, fronts and kinds of upstream; \`bun run test --all\` runs them`,
    )
  return { passed, failed: broken ? Math.max(failed, 1) : failed, skipped }
}

// The checks take turns: each would take memory, and one processor, from the tests.
const checks = check('types').then(async (types) => [types, await check('lint')])
const outcomes = [await tests(), ...(await checks)]
const sum = (of: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[of], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
process.exit(sum('failed') > 0 ? 1 : 0)
