import { expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import description from '../../package.json' with { type: 'json' }
import { repetitions } from '../support/repetitions.ts'
import { root } from '../support/server.ts'

setDefaultTimeout(300_000)

const runtimes = {
  bun: [process.execPath],
  deno: [join(root, 'node_modules/.bin/deno'), 'run', '--no-lock', '-A'],
}

/** Runs a command to its end. One that starts a server instead is stopped, with status null. */
const run = async (command: readonly string[]) => {
  const [program = '', ...args] = command
  // A configuration that no server starts with: else a command that ignores its arguments would not end.
  const child = spawn(program, args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: 'no port' },
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    output.out += chunk
    if (/listening on/.test(output.out)) child.kill()
  })
  child.stderr.on('data', (chunk) => {
    output.err += chunk
  })
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { status, ...output }
}

const commands: readonly (readonly [name: string, command: readonly string[], usage: string])[] = [
  ...repetitions<readonly [string, readonly string[], string]>(
    ['the server', [...runtimes.bun, 'src/server/start.ts'], 'usage: start'],
    ['the server on Deno', [...runtimes.deno, 'src/server.ts'], 'usage: start'],
  ),
  ['the demo', [...runtimes.bun, 'src/demo.ts'], 'usage: demo'],
  ...repetitions<readonly [string, readonly string[], string]>(
    ['the emulator', [...runtimes.bun, 'src/emulator/main.ts'], 'usage: emulator'],
    ['the emulator on Deno', [...runtimes.deno, 'src/emulator/main.ts'], 'usage: emulator'],
  ),
]

for (const [name, command, usage] of commands) {
  test(`--help of ${name} prints its usage, and starts nothing`, async () => {
    expect(await run([...command, '--help'])).toEqual({ status: 0, out: expect.stringContaining(usage), err: '' })
  })

  test(`an unknown argument of ${name} is an error that names it`, async () => {
    const { status, out, err } = await run([...command, '--prot=3000'])
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain('--prot')
    expect(err).toContain(usage)
  })
}

for (const [name, command] of [
  ...commands.filter(([, , usage]) => usage !== 'usage: emulator'),
  ['the command of the package', [...runtimes.bun, 'src/cli.ts', 'start']],
] as const) {
  test(`--version of ${name} prints the version, and starts nothing`, async () => {
    expect(await run([...command, '--version'])).toEqual({ status: 0, out: `${description.version}\n`, err: '' })
  })
}

test('an unknown argument of the command of the package is an error that names it', async () => {
  for (const args of [['start', '--port'], ['stop']]) {
    const { status, err } = await run([...runtimes.bun, 'src/cli.ts', ...args])
    expect(status).toBe(2)
    expect(err).toStartWith(`unknown argument ${JSON.stringify(args.at(-1))}\nusage: sluice start`)
  }
})
