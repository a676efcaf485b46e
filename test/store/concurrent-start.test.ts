import { expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachEmptyDatabase } from '../support/database.ts'

const root = join(import.meta.dir, '../..')
const runtimes = {
  bun: [process.execPath],
  deno: [join(root, 'node_modules/.bin/deno'), 'run', '--no-lock', '-A'],
} as const

const run = ([command, ...args]: readonly string[], url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command ?? '', [...args, join(import.meta.dir, 'concurrent-start-process.ts'), url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(err))))
  })

eachEmptyDatabase('processes', (database) => {
  test('processes of both runtimes that start concurrently on an empty database share names, leases and secrets', async () => {
    const commands = [runtimes.bun, runtimes.deno, runtimes.bun, runtimes.deno]
    const said = await Promise.all(commands.map((command) => run(command, database.url)))
    const results: { claimed: string[]; leased: string[]; secret: string }[] = said.map((text) => JSON.parse(text))

    const claimed = results.flatMap((result) => result.claimed)
    expect(claimed.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 40 }, (_, name) => String(name)))
    const leased = results.flatMap((result) => result.leased)
    expect(leased).toHaveLength(40)
    expect(new Set(leased).size).toBe(40)
    expect(new Set(results.map((result) => result.secret)).size).toBe(1)
  }, 300_000)
})

test('a file that Deno creates is accessible to its owner only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-modes-'))
  const path = join(folder, 'data', 'there.db')
  await run(runtimes.deno, `sqlite:${path}`)
  expect([await stat(path), await stat(join(folder, 'data'))].map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o700])
  await rm(folder, { recursive: true })
})
