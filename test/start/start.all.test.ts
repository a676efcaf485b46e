/** Runs with `--all`: builds a copy of the project several times. The tests of test/server start the server in the same way. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBundle, serverBundle } from '../../src/server/bundle.ts'

setDefaultTimeout(300_000)

/** A copy of the project, whose files the tests change. */
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'sluice-start-'))
  for (const name of ['src', 'plugins', ...(serverBundle.otherInputs ?? [])]) {
    await cp(join(serverBundle.root, name), join(copy, name), { recursive: true })
  }
  await mkdir(join(copy, 'node_modules'))
  for (const name of await readdir(join(serverBundle.root, 'node_modules'))) {
    if (name.startsWith('.')) continue
    await symlink(join(serverBundle.root, 'node_modules', name), join(copy, 'node_modules', name))
  }
})

afterAll(() => rm(copy, { recursive: true }))

/** Starts the server of the copy, and returns the bodies of the given paths. */
const fetchFromCopy = async (
  paths: readonly string[],
  environment: Record<string, string> = {},
): Promise<readonly string[]> => {
  const child = spawn(process.execPath, ['src/server/start.ts'], {
    cwd: copy,
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATABASE_URL: 'sqlite:start.db',
      LOG_LEVEL: 'warn',
      DRAIN_GRACE_SECONDS: '0',
      ...environment,
    },
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

const bundleOfCopy = () => findBundle({ ...serverBundle, root: `${copy}/` })

/** Replaces text in the source of `GET /healthz`. */
const replaceHealthText = async (before: string, after: string) => {
  const path = join(copy, 'src/app/health.ts')
  const source = await readFile(path, 'utf8')
  if (!source.includes(before)) throw new Error(`health.ts does not contain ${before}`)
  await writeFile(path, source.replace(before, after))
}

test('the first start builds the bundle, and the next one runs it', async () => {
  expect(bundleOfCopy()).toBeUndefined()
  expect(await fetchFromCopy(['/healthz'])).toEqual(['{"status":"ok"}'])
  const bundlePath = bundleOfCopy() ?? ''
  const source = await readFile(bundlePath, 'utf8')
  // A change of the bundle itself shows which file runs. The runtime does not use bytecode that does not match its source.
  await writeFile(bundlePath, source.replace('status: "ok"', 'status: "bundled"'))
  expect(await fetchFromCopy(['/healthz'])).toEqual(['{"status":"bundled"}'])
  await writeFile(bundlePath, source)
})

test('the bundled console finds its pages, and several workers run the same bundle', async () => {
  const [page = ''] = await fetchFromCopy(['/console'])
  const [script = ''] = /\/console\/app-\w+\.js/.exec(page) ?? []
  const [text = '', health] = await fetchFromCopy([script, '/healthz'], { WORKERS: '2' })
  expect([text.slice(0, 4), text.length > 10_000, health]).toEqual(['var ', true, '{"status":"ok"}'])
})

test('a changed source runs from the next start on', async () => {
  await replaceHealthText("json(200, { status: 'ok'", "json(200, { status: 'changed'")
  expect(await fetchFromCopy(['/healthz'])).toEqual(['{"status":"changed"}'])
  expect(bundleOfCopy()).toBeDefined()
})

test('the source files run when no bundle can be stored', async () => {
  await rm(join(copy, 'node_modules/.cache'), { recursive: true })
  await writeFile(join(copy, 'node_modules/.cache'), 'no folder')
  await replaceHealthText("status: 'changed'", "status: 'unbundled'")
  expect(await fetchFromCopy(['/healthz'])).toEqual(['{"status":"unbundled"}'])
})
