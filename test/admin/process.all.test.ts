/** Runs with `--all`: the command in many processes, on both runtimes and databases. admin.test.ts runs it in one. */
import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { hashToken } from '../../plugins/api-token/token.ts'
import { openStore } from '../../src/store/index.ts'
import { databaseNames, freshDatabase } from '../support/database.ts'

const root = join(import.meta.dir, '../..')
const runtimes = {
  bun: [process.execPath],
  deno: [join(root, 'node_modules/.bin/deno'), 'run', '--no-lock', '-A'],
}

interface ProcessResult {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

const run = (
  [command = '', ...before]: readonly string[],
  args: readonly string[],
  url: string,
  stdin = '',
  file = 'src/admin.ts',
) =>
  new Promise<ProcessResult>((resolve) => {
    const env = { ...process.env, DATABASE_URL: url }
    const child = spawn(command, [...before, join(root, file), ...args], { env })
    const output = { out: '', err: '' }
    child.stdout.on('data', (chunk) => {
      output.out += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.err += chunk
    })
    child.on('close', (status) => resolve({ status, ...output }))
    child.stdin.end(stdin)
  })

for (const [name, command] of Object.entries(runtimes)) {
  for (const kind of databaseNames) {
    test(`the command works on an empty database, also while a store is open (${name}, ${kind})`, async () => {
      const { url, remove } = await freshDatabase(kind)
      const added = await run(command, ['user', 'add', 'ann', '--password', '-'], url, 'open sesame street\n')
      expect(added).toEqual({ status: 0, out: expect.stringMatching(/^\S+\n$/), err: '' })
      const store = openStore(url, { deadlineMs: 60_000 })
      expect((await store.userByName('ann'))?.id).toBe(added.out.trim())
      const token = await run(command, ['token', 'add', 'ann'], url)
      expect((await store.ownerOf(hashToken(token.out.trim())))?.user).toBe(added.out.trim())
      expect(await run(command, ['user', 'add', 'ann'], url)).toEqual({
        status: 1,
        out: '',
        err: 'there is a user of that name already\n',
      })
      expect(await run(command, ['nonsense'], url)).toMatchObject({ status: 2, out: '' })
      await store.close()
      await remove()
    }, 300_000)
  }
}

test('an unreachable database is an error, and the message does not contain its address', async () => {
  const failed = await run(runtimes.bun, ['user', 'list'], 'postgres://user:word@127.0.0.1:1/none')
  expect(failed).toEqual({ status: 1, out: '', err: 'the database request failed\n' })
})

test('a malformed DATABASE_URL is reported without its value', async () => {
  const failed = await run(runtimes.bun, ['user', 'list'], 'mysql://user:word@host/none')
  expect(failed.status).toBe(2)
  expect(failed.err).toContain('DATABASE_URL must be')
  expect(failed.err).not.toContain('word@')
})

for (const [name, command] of Object.entries(runtimes)) {
  test(`--help prints the commands, and needs no database (${name})`, async () => {
    const help = { status: 0, out: expect.stringMatching(/^usage: admin COMMAND\n +user add NAME /), err: '' }
    const wrong = 'no-database:'
    expect(await run(command, ['--help'], wrong)).toEqual(help)
    expect(await run(command, ['user', 'add', '--help'], wrong)).toEqual(help)
  })

  test(`the command sluice prints its version and its usage (${name})`, async () => {
    const sluice = (...args: string[]) => run(command, args, '', '', 'src/cli.ts')
    const { version } = await Bun.file(join(root, 'package.json')).json()
    expect(await sluice('--version')).toEqual({ status: 0, out: `${version}\n`, err: '' })
    const usage = { status: 0, out: expect.stringMatching(/^usage: sluice start /), err: '' }
    for (const args of [['--help'], ['start', '--help']]) expect(await sluice(...args)).toEqual(usage)
    const commands = { status: 0, out: expect.stringMatching(/^usage: sluice admin COMMAND\n/), err: '' }
    expect(await sluice('admin', '--help')).toEqual(commands)
    expect(await sluice('nonsense')).toMatchObject({ status: 2, out: '' })
  })
}
