import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshBundle, server } from '../../src/server/bundle.ts'

setDefaultTimeout(30_000)

/** A copy of the project, whose files may be changed. */
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'sluice-start-'))
  for (const name of ['src', 'plugins', ...(server.settings ?? [])]) {
    await cp(join(server.root, name), join(copy, name), { recursive: true })
  }
  await mkdir(join(copy, 'node_modules'))
  for (const name of await readdir(join(server.root, 'node_modules'))) {
    if (name.startsWith('.')) continue
    await symlink(join(server.root, 'node_modules', name), join(copy, 'node_modules', name))
  }
})

afterAll(() => rm(copy, { recursive: true }))

/** Starts the copy, and asks it for each of the paths. */
const ask = async (paths: readonly string[], environment: Record<string, string> = {}): Promise<readonly string[]> => {
  const child = spawn(process.execPath, ['src/server/start.ts'], {
    cwd: copy,
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: 'sqlite:start.db', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [, url = ''] = await new Promise<readonly string[]>((resolve, reject) => {
      let stdout = ''
      child.stdout.on('data', (chunk) => {
        stdout += chunk
        const listening = /^sluice listening on (http\S+)$/m.exec(stdout)
        if (listening) resolve(listening)
      })
      child.once('exit', (status) => reject(new Error(`the server ended with ${status}`)))
    })
    return await Promise.all(paths.map((path) => fetch(url + path).then((response) => response.text())))
  } finally {
    child.removeAllListeners('exit')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}

const bundle = () => freshBundle({ ...server, root: `${copy}/` })

/** Replaces what `GET /healthz` says. */
const say = async (before: string, after: string) => {
  const path = join(copy, 'src/health.ts')
  const source = await readFile(path, 'utf8')
  if (!source.includes(before)) throw new Error(`health does not say ${before}`)
  await writeFile(path, source.replace(before, after))
}

test('the first start makes the bundle, and the next one runs it', async () => {
  expect(bundle()).toBeUndefined()
  expect(await ask(['/healthz'])).toEqual(['{"status":"ok"}'])
  const made = bundle() ?? ''
  const source = await readFile(made, 'utf8')
  // Nothing would do this: it shows which file runs. Bytecode that does not fit its source is not used.
  await writeFile(made, source.replace('status: "ok"', 'status: "bundled"'))
  expect(await ask(['/healthz'])).toEqual(['{"status":"bundled"}'])
  await writeFile(made, source)
})

test('the console finds its pages, and several processes run the same', async () => {
  const page = await readFile(join(copy, 'plugins/console/page/app.js'), 'utf8')
  expect(await ask(['/console/app.js', '/healthz'], { WORKERS: '2' })).toEqual([page, '{"status":"ok"}'])
})

test('what was changed is what runs, from the very next start on', async () => {
  await say("'ok'", "'changed'")
  expect(await ask(['/healthz'])).toEqual(['{"status":"changed"}'])
  expect(bundle()).toBeDefined()
})

test('where no bundle can be kept, the files themselves serve', async () => {
  await rm(join(copy, 'node_modules/.cache'), { recursive: true })
  await writeFile(join(copy, 'node_modules/.cache'), 'no folder')
  await say("'changed'", "'unbundled'")
  expect(await ask(['/healthz'])).toEqual(['{"status":"unbundled"}'])
})
