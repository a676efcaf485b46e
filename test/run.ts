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
const tests = async (): Promise<Outcome> => {
  const { ok, output } = await run(process.execPath, ['test', ...manner, ...process.argv.slice(2)])
  const count = (word: string) =>
    Number(
      output
        .match(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))
        ?.at(-1)
        ?.match(/\d+/)?.[0] ?? 0,
    )
  const failed = count('fail')
  return { passed: count('pass'), failed: ok || failed > 0 ? failed : 1 }
}

const outcomes = [await check(['run', 'types']), await check(['run', 'lint']), await tests()]
const sum = (of: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[of], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(sum('failed') > 0 ? 1 : 0)
