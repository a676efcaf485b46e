/** Runs with `--all`: bundles the command and compiles it to an executable, and starts both. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { openStore } from '../../src/store/index.ts'
import { root, run } from './fixture.ts'

setDefaultTimeout(300_000)

/** Starts a server, and returns the statuses of the console's script and style sheet, and the names of the MCP server's tools. */
const partsOf = async (folder: string, [program = '', ...args]: readonly string[]) => {
  const env = {
    ...{ PATH: process.env.PATH, PORT: '0', DATABASE_URL: 'sqlite:start.db', DRAIN_GRACE_SECONDS: '0' },
    ...{ MEDIA_UPSTREAM_URL: 'http://127.0.0.1:9', MEDIA_UPSTREAM_KEY: 'key' },
  }
  const store = openStore(`sqlite:${join(folder, 'start.db')}`)
  await store.migrate()
  const user = await store.addUser({ name: crypto.randomUUID(), createdAt: 1 })
  const token = createToken()
  await store.addToken({ user: user ?? '', hash: hashToken(token), start: 'sk-', createdAt: 1 })
  await store.close()
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
    const statuses = await Promise.all(names.map(async (name) => (await fetch(url + name)).status))
    const listed = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    })
    return { statuses, tools: [...(await listed.text()).matchAll(/"name":"(\w+)"/g)].map(([, name]) => name) }
  } finally {
    child.kill('SIGTERM')
    await ended.catch(() => {})
  }
}

test('the command serves the console and the MCP server when it is bundled, and when it is compiled to an executable', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compiled-'))
  const parts = { statuses: [200, 200], tools: ['find_assets', 'get_asset', 'create_upload_link', 'create_asset'] }
  try {
    const build = [process.execPath, 'build', 'src/cli.ts', '--target=bun']
    expect((await run(root, [...build, `--outfile=${folder}/command.js`])).status).toBe(0)
    expect((await run(root, [...build, '--compile', `--outfile=${folder}/command`])).status).toBe(0)
    expect(await partsOf(folder, [process.execPath, 'command.js', 'start'])).toEqual(parts)
    expect(await partsOf(folder, [join(folder, 'command'), 'start'])).toEqual(parts)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
