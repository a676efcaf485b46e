/** Runs with `--all`: bundles the command and compiles it to an executable, and starts both. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run } from './fixture.ts'

setDefaultTimeout(300_000)

/** Starts a server, and returns the statuses of the console's page, script and style sheet. */
const consoleOf = async (folder: string, [program = '', ...args]: readonly string[]) => {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: 'sqlite:start.db', DRAIN_GRACE_SECONDS: '0' }
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (status) => reject(new Error(`the server ended with ${status}`)))
  })
  const listening = new Promise<string>((resolve) => {
    child.stdout.once('data', (line) => resolve(/^sluice listening on (http\S+)$/m.exec(String(line))?.[1] ?? ''))
  })
  try {
    const url = await Promise.race([listening, ended])
    const page = await (await fetch(`${url}/console`)).text()
    const names = ['style-\\w+.css', 'app-\\w+.js'].map((name) => new RegExp(`/console/${name}`).exec(page)?.[0])
    return await Promise.all(names.map(async (name) => (await fetch(url + name)).status))
  } finally {
    child.kill('SIGTERM')
    await ended.catch(() => {})
  }
}

test('the command serves the console when it is bundled, and when it is compiled to an executable', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compiled-'))
  try {
    const build = [process.execPath, 'build', 'src/cli.ts', '--target=bun']
    expect((await run(root, [...build, `--outfile=${folder}/command.js`])).status).toBe(0)
    expect((await run(root, [...build, '--compile', `--outfile=${folder}/command`])).status).toBe(0)
    expect(await consoleOf(folder, [process.execPath, 'command.js', 'start'])).toEqual([200, 200])
    expect(await consoleOf(folder, [join(folder, 'command'), 'start'])).toEqual([200, 200])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
