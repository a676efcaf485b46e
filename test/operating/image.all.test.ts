/** Runs with `--all`: builds the package, as the image does, and starts it. files.test.ts has the instructions of the Dockerfile. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instructions, last } from './dockerfile.ts'
import { operatingFile, run } from './fixture.ts'

const root = join(import.meta.dir, '../..')

test('the build of the Dockerfile finds everything in the files that .dockerignore lets through, and its command runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-image-'))
  try {
    const [source, app] = [join(folder, 'source'), join(folder, 'app')]
    const allowed = [...readFileSync(operatingFile('Dockerfile.dockerignore'), 'utf8').matchAll(/^!(.+)$/gm)].map(
      ([, path = '']) => path,
    )
    for (const path of allowed) await cp(join(root, path), join(source, path), { recursive: true })
    // `bun install` of the image needs the registry: the test uses the packages of this checkout.
    await Bun.$`ln -s ${join(root, 'node_modules')} ${join(source, 'node_modules')}`.quiet()
    for (const { text } of instructions.filter(({ name }) => name === 'COPY')) {
      const paths = text.split(' ').filter((word) => !word.startsWith('--'))
      if (!text.startsWith('--from=build')) {
        for (const path of paths.slice(0, -1)) expect(existsSync(join(source, path))).toBe(true)
      }
    }
    const built = await run([process.execPath, 'run', 'build'], { cwd: source })
    expect([built.status, built.errors.includes('error')]).toEqual([0, false])
    for (const path of ['dist', 'LICENSE']) await cp(join(source, path), join(app, path), { recursive: true })
    expect(await readdir(app)).toEqual(expect.arrayContaining(['dist', 'LICENSE']))
    const command = [...JSON.parse(last('ENTRYPOINT') ?? ''), ...JSON.parse(last('CMD') ?? '')] as string[]
    const server = Bun.spawn([process.execPath, ...command.slice(1).map((word) => word.replace(/^\/app/, app))], {
      cwd: app,
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        WORKERS: '2',
        DRAIN_GRACE_SECONDS: '0',
        DATABASE_URL: `sqlite:${join(folder, 'x.db')}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { value } = await server.stdout.getReader().read()
    const url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0]
    const check = /"-e", ("(?:[^"\\]|\\.)*")/.exec(last('HEALTHCHECK') ?? '')?.[1] ?? ''
    const healthy = (port: string) => run([process.execPath, '-e', JSON.parse(check)], { env: { PORT: port } })
    expect((await healthy(new URL(url ?? '').port)).status).toBe(0)
    expect((await fetch(`${url}/console`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    expect((await healthy(new URL(url ?? '').port)).status).not.toBe(0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 300_000)
