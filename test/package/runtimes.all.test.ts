/** Runs with `--all`: builds the package and runs it on both runtimes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testIf } from '../support/run-if.ts'
import {
  type Consumer,
  consoleFilesOf,
  createConsumer,
  readmeBlock,
  requiredPeers,
  run,
  runtimes,
  specifiersOf,
} from './fixture.ts'

setDefaultTimeout(300_000)

/** Subpaths that need an optional peer. */
const peerOf: Readonly<Record<string, string>> = {
  'sluice/metrics': 'prom-client',
  'sluice/oidc-login': 'openid-client',
  'sluice/tracing': '@opentelemetry/api',
}

const importing = (specifiers: readonly string[]): string =>
  `${specifiers.map((specifier) => `await import(${JSON.stringify(specifier)})`).join('\n')}\nconsole.log('imported')`

/** Runs a program until it prints a line with the pattern, and returns what it printed by then. The caller must stop it. */
const start = (consumer: Consumer, [program = '', ...args]: readonly string[], pattern: RegExp) => {
  const { PATH, HOME } = process.env
  const child = spawn(program, args, {
    cwd: consumer.folder,
    env: {
      PATH,
      HOME,
      NO_COLOR: '1',
      PORT: '0',
      DATABASE_URL: 'sqlite:consumer.db',
      WORKERS: '1',
      DRAIN_GRACE_SECONDS: '0',
    },
  })
  const stop = async () => {
    if (child.exitCode !== null) return
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await closed
  }
  const printed = new Promise<RegExpExecArray>((resolve, reject) => {
    let output = ''
    const read = (chunk: unknown) => {
      output += chunk
      const found = pattern.exec(output)
      if (found) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('close', (status) => reject(new Error(`ended with ${status}: ${output}`)))
  })
  return { printed, pid: child.pid, [Symbol.asyncDispose]: stop }
}

/** Elysia's `listen` works on Bun only. */
const listening: Readonly<Record<string, string>> = {
  bun: "app.listen(0, ({ port }) => console.log('port', port))",
  deno: "Deno.serve({ port: 0, onListen: ({ port }) => console.log('port', port) }, app.fetch)",
}

for (const [name, command] of Object.entries(runtimes)) {
  describe(name, () => {
    test('a project with the package and its required peers imports every subpath that needs no optional peer', async () => {
      const consumer = await createConsumer(...requiredPeers)
      const specifiers = specifiersOf(consumer.package).filter((specifier) => !(specifier in peerOf))
      expect(specifiers.length).toBeGreaterThan(12)
      consumer.write('all.ts', importing(specifiers))
      expect(await run(consumer.folder, [...command(), 'all.ts'])).toEqual({ status: 0, output: 'imported' })
    })

    test('a subpath that needs an optional peer names it when it is missing, and works with it', async () => {
      for (const [specifier, peer] of Object.entries(peerOf)) {
        const without = await createConsumer(...requiredPeers)
        without.write('one.ts', importing([specifier]))
        const { status, output } = await run(without.folder, [...command(), 'one.ts'])
        expect([specifier, status, output]).toEqual([specifier, 1, expect.stringContaining(peer)])
        const consumer = await createConsumer(...requiredPeers, peer)
        consumer.write('one.ts', importing([specifier]))
        expect(await run(consumer.folder, [...command(), 'one.ts'])).toEqual({ status: 0, output: 'imported' })
      }
    })

    test('a store on PostgreSQL names the missing driver when it is used', async () => {
      const consumer = await createConsumer(...requiredPeers)
      const program = `
        import { openStore } from 'sluice/store'
        const store = openStore('postgres://localhost:1/none')
        await store.listUsers().catch((error) => console.log(error.cause.message))
        await store.close()`
      consumer.write('store.ts', program)
      expect((await run(consumer.folder, [...command(), 'store.ts'])).output).toBe(
        'a store on PostgreSQL needs the package postgres: add it to your project',
      )
    })

    test("the README's first example serves its request", async () => {
      const consumer = await createConsumer(...requiredPeers)
      const program = readmeBlock('ts')
      expect(program.trim().split('\n').length).toBeLessThanOrEqual(10)
      const [before, after] = program.split(/^new Elysia\(\)(?=.*\.listen\(3000\)$)/m)
      consumer.write(
        'example.ts',
        `${before}const app = new Elysia()${after?.replace('.listen(3000)', '')}\n${listening[name]}`,
      )
      await using example = start(consumer, [...command(), 'example.ts'], /^port (\d+)$/m)
      const [, port] = await example.printed
      const [, path, body] = /^curl localhost:3000(\S+) .* -d '(.+)'$/m.exec(readmeBlock('sh', 'curl')) ?? []
      const ask = (authorization: string) =>
        fetch(`http://localhost:${port}${path}`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body,
        })
      const answered = await ask('Bearer sk-ann')
      expect([answered.status, await answered.json()]).toMatchObject([200, { object: 'response', status: 'completed' }])
      expect((await ask('Bearer sk-bob')).status).toBe(401)
    })

    test('the command `sluice` administers users and starts the server, without any other package', async () => {
      const consumer = await createConsumer()
      const sluice = [...command(), join(consumer.package, 'dist/sluice.js')]
      const database = { DATABASE_URL: 'sqlite:consumer.db' }
      const added = await run(
        consumer.folder,
        [...sluice, 'admin', 'user', 'add', 'ann', '--password', 'a long password'],
        database,
      )
      expect(added).toEqual({ status: 0, output: expect.stringMatching(/^\S+$/) })
      const { output: token } = await run(consumer.folder, [...sluice, 'admin', 'token', 'add', 'ann'], database)
      expect(token).toStartWith('sk-')
      await using server = start(consumer, [...sluice, 'start'], /^sluice listening on (\S+)$/m)
      const [, url] = await server.printed
      const status = async (path: string, init?: RequestInit) => (await fetch(`${url}${path}`, init)).status
      expect(await status('/readyz')).toBe(200)
      // 502: the caller is known, but there is no upstream.
      expect(await status('/v1/models', { headers: { authorization: `Bearer ${token}` } })).toBe(502)
      expect(await status('/v1/models')).toBe(401)
      const credentials = {
        headers: { 'content-type': 'application/json' },
        body: '{"name":"ann","password":"a long password"}',
      }
      expect(await status('/api/session', { method: 'POST', ...credentials })).toBe(200)
      for (const path of ['/console', ...(await consoleFilesOf(url ?? ''))])
        expect([path, await status(path)]).toEqual([path, 200])
      expect(await status('/openapi')).toBe(200)
    })

    test('the command `sluice` explains itself', async () => {
      const consumer = await createConsumer()
      const sluice = [...command(), join(consumer.package, 'dist/sluice.js')]
      const usage = expect.stringMatching(/^usage: sluice start .*\n +sluice admin COMMAND/)
      expect(await run(consumer.folder, sluice)).toEqual({ status: 2, output: usage })
      expect(await run(consumer.folder, [...sluice, 'start', 'now'])).toEqual({
        status: 2,
        output: expect.stringMatching(/^unknown argument "now"\nusage: sluice start /),
      })
      expect(await run(consumer.folder, [...sluice, '--help'])).toEqual({ status: 0, output: usage })
      const admin = await run(consumer.folder, [...sluice, 'admin'], { DATABASE_URL: 'sqlite::memory:' })
      expect(admin).toEqual({ status: 2, output: expect.stringContaining('user add NAME') })
    })
  })
}

test('passwords on Deno need @noble/hashes, and say so', async () => {
  const program = `
    import { hashPassword, verifyPassword } from 'sluice/web-session'
    const hash = await hashPassword('pw').catch((error) => error.message)
    console.log(hash, hash.startsWith('$argon2id$') && (await verifyPassword('pw', hash)))`
  const message = 'this runtime has no Argon2: add the package @noble/hashes to your project false'
  const hash = expect.stringMatching(/^\$argon2id\$\S+ true$/)
  for (const [peers, runtime, output] of [
    [[], 'bun', hash],
    [[], 'deno', message],
    [['@noble/hashes'], 'deno', hash],
  ] as const) {
    const consumer = await createConsumer(...requiredPeers, ...peers)
    consumer.write('password.ts', program)
    expect(await run(consumer.folder, [...runtimes[runtime](), 'password.ts'])).toEqual({ status: 0, output })
  }
})

testIf(process.platform === 'linux', 'needs /proc of Linux')(
  'on Bun, the command raises the limits on concurrent upstream calls and on threads, which Bun reads when it starts',
  async () => {
    const consumer = await createConsumer()
    const path = join(consumer.package, 'dist/sluice.js')
    await using server = start(consumer, [process.execPath, path, 'start'], /^sluice listening on (\S+)$/m)
    await server.printed
    const environment = readFileSync(`/proc/${server.pid}/environ`, 'utf8').split('\0')
    expect(environment).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65336')
    expect(environment).toContain('UV_THREADPOOL_SIZE=16')
  },
)
