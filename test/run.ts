/** Everything, as the README's test command runs it: types, lint, then every test. Ends with one line `N passed, N failed`. */
import { spawn } from 'node:child_process'

interface Outcome {
  readonly passed: number
  readonly failed: number
}

/** Runs a command and shows what it prints. */
const run = (command: string, args: readonly string[]): Promise<{ ok: boolean; output: string }> =>
  new Promise((resolve) => {
    console.log(`\n$ ${command} ${args.join(' ')}`)
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk
        process.stdout.write(chunk)
      })
    }
    child.on('error', (error) => resolve({ ok: false, output: String(error) }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })

const check = async (args: readonly string[]): Promise<Outcome> => {
  const { ok } = await run(process.execPath, args)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1 }
}

/**
 * Two files at a time, as most of them wait for something; each of the two processes has one PostgreSQL for all its files. What is computed meanwhile takes longer than
 * alone, but no test judges by that: the runner's own 5 seconds are for one file at a time.
 */
const manner = ['--parallel=2', '--no-isolate', '--timeout=20000']

/** The counts that the runner prints last. A run that ended badly has failed, whatever it counted. */
const outcomeOf = ({ ok, output }: { ok: boolean; output: string }): Outcome => {
  const count = (word: string) => Number(output.match(new RegExp(`^ *\\d+(?= ${word}$)`, 'gm'))?.at(-1) ?? 0)
  const failed = count('fail') + count('errors?')
  return { passed: count('pass'), failed: ok || failed > 0 ? failed : 1 }
}

/** How many tests failed in each file: the runner prints a file's name before results of it, and at the end all that failed once more. */
const failuresByFile = (output: string): Map<string, number> => {
  const failures = new Map<string, number>()
  let file: string | undefined
  for (const line of output.split('\n')) {
    if (/^\d+ tests? (failed|skipped):$/.test(line)) break
    file = line.match(/^(\S+\.test\.ts):$/)?.[1] ?? file
    if (file !== undefined && line.startsWith('(fail) ')) failures.set(file, (failures.get(file) ?? 0) + 1)
  }
  return failures
}

const mostFilesTwice = 5

/**
 * Everything at once; then, of a few files that failed, each once more and alone. A fault fails both times. What fails only beside others, on a machine that is busy with
 * something else, is printed by name as a test to be mended, and does not fail the run.
 */
const tests = async (): Promise<Outcome> => {
  const all = await run(process.execPath, ['test', ...manner, ...process.argv.slice(2)])
  let { passed, failed } = outcomeOf(all)
  const failures = failuresByFile(all.output)
  const unsteady: string[] = []
  for (const [file, count] of failures.size > mostFilesTwice ? [] : failures) {
    if (outcomeOf(await run(process.execPath, ['test', '--timeout=20000', `./${file}`])).failed > 0) continue
    unsteady.push(`${file} (${count})`)
    passed += count
    failed -= count
  }
  if (unsteady.length > 0) console.log(`\nFailed beside others and passed alone, to be mended: ${unsteady.join(', ')}`)
  return { passed, failed }
}

const outcomes = [await check(['run', 'types']), await check(['run', 'lint']), await tests()]
const sum = (of: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[of], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(sum('failed') > 0 ? 1 : 0)
