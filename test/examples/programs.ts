import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Emulator, startEmulator } from '../../src/emulator/index.ts'
import {
  auditFile,
  flagsOfExample,
  startDeno,
  startProgram,
  unusedGrants,
  withValues,
  writeImportMap,
} from '../deno/fixture.ts'
import { type Runtime, root } from '../support/server.ts'

interface Exchange {
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: object
  /** Status, and a part of the body. */
  readonly expected: readonly [status: number, text: string]
}

const question = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })
const ann = { authorization: 'Bearer ann' }

/** What a caller of each example sends, and receives. */
export const exchanges: Readonly<Record<string, readonly Exchange[]>> = {
  'better-auth': [
    {
      path: '/api/auth/sign-up/email',
      headers: { origin: 'http://localhost:3000' },
      body: { name: 'Ann', email: 'ann@example.com', password: 'correct horse' },
      expected: [200, 'ann@example.com'],
    },
    { path: '/api/media/proxy/assets', expected: [401, 'not authenticated'] },
  ],
  'chat-for-your-users': [
    { path: '/v1/chat/completions', headers: ann, body: question('small'), expected: [200, 'from the upstream'] },
    { path: '/v1/chat/completions', headers: ann, body: question('other'), expected: [200, 'from the upstream'] },
  ],
  'embed-the-gateway': [
    { path: '/', expected: [200, 'my own app'] },
    { path: '/api/media/proxy/assets', headers: ann, expected: [401, 'not authenticated'] },
  ],
  'identity-of-your-own': [
    { path: '/api/media/proxy/assets', headers: { cookie: 'session=s3cret' }, expected: [200, '"Items":[]'] },
    {
      path: '/api/media/proxy/assets/groups',
      headers: { cookie: 'session=s3cret', origin: 'http://localhost:3000' },
      body: { Name: 'Holidays', GroupType: 'AIGC' },
      expected: [200, '"Id":'],
    },
  ],
  'lists-of-another-api': [{ path: '/orders?PageSize=1&SortOrder=Asc', expected: [200, '"order-0"'] }],
  'one-plugin-alone': [{ path: '/books?Author=Lem', expected: [200, 'Solaris'] }],
  'relay-any-stream': [{ path: '/news', expected: [200, 'from the upstream'] }],
  'store-of-your-own': [{ path: '/folders/f1', headers: { 'x-user': 'ann' }, expected: [200, 'Holidays, yours'] }],
  'video-store-of-your-own': [
    {
      path: '/api/v3/contents/generations/tasks',
      headers: { 'x-user': 'ann' },
      body: { model: 'doubao-seedance-2-0-260128', content: [{ type: 'text', text: 'a cat' }] },
      expected: [200, '"id":"cgt-'],
    },
    { path: '/api/v3/contents/generations/tasks', headers: { 'x-user': 'ann' }, expected: [200, '"total":1'] },
  ],
}

const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'from the upstream' }, finish_reason: 'stop' }] }

/** A stand-in for the text upstreams of all examples. */
const startUpstream = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      }),
  })

/** Declares the tests of so many examples on each runtime. Their copies are in a folder of their own. */
export const describePrograms = (folderName: string, examples: Readonly<Record<Runtime, readonly string[]>>): void => {
  describe('each example is a program', () => {
    /** Inside the repository, so that the examples find their packages. */
    const folder = join(root, 'data', folderName)
    const importMap = join(folder, 'import-map.json')
    const database = mkdtempSync(join(tmpdir(), 'sluice-examples-'))
    let upstream: ReturnType<typeof startUpstream>
    let emulator: Emulator
    beforeAll(async () => {
      upstream = startUpstream()
      emulator = await startEmulator()
      mkdirSync(folder, { recursive: true })
      writeImportMap(importMap)
    })
    afterAll(async () => {
      await upstream.stop(true)
      await emulator.stop()
      rmSync(folder, { recursive: true })
      rmSync(database, { recursive: true })
    })

    /** A copy of an example that listens on a free port, and prints its address. */
    const copy = (name: string): string => {
      const text = readFileSync(join(root, 'examples', `${name}.ts`), 'utf8')
        .replace(/await (createNodeServer\(\w+\)\.listen)\(3000\)/, "console.log('at', (await $1(0)).url)")
        .replaceAll('http://127.0.0.1:4000', emulator.origin)
        .replaceAll(/127\.0\.0\.1:400[1-9]/g, `127.0.0.1:${upstream.port}`)
        .replace('sqlite:data/', `sqlite:${database}/`)
      const path = join(folder, `${name}.ts`)
      writeFileSync(path, text)
      const parts = join(root, 'examples', name)
      if (existsSync(parts)) cpSync(parts, join(folder, name), { recursive: true })
      return path
    }

    const check = async (program: ReturnType<typeof startProgram>, expected: readonly Exchange[]) => {
      const [, url] = await program.printed(/^at (\S+)$/m)
      for (const { path, headers = {}, body, expected: result } of expected) {
        const json = { ...headers, 'content-type': 'application/json' }
        const init = body ? { method: 'POST', headers: json, body: JSON.stringify(body) } : { headers }
        const response = await fetch(`${url}${path}`, init)
        const received = [path, response.status, await response.text()]
        expect(received).toEqual([path, result[0], expect.stringContaining(result[1])])
      }
    }

    for (const name of examples.bun) {
      test(`${name} runs on Bun`, async () => {
        await using program = startProgram([process.execPath, copy(name)])
        await check(program, exchanges[name] ?? [])
      }, 300_000)
    }

    for (const name of examples.deno) {
      test(`${name} runs on Deno, with the permissions of the page about Deno`, async () => {
        const upstreamHost = `127.0.0.1:${upstream.port}`
        const flags = withValues(flagsOfExample(name), {
          '127.0.0.1:3000': '127.0.0.1:0',
          '127.0.0.1:4000': new URL(emulator.origin).host,
          '127.0.0.1:4001': upstreamHost,
          '127.0.0.1:4002': upstreamHost,
          '127.0.0.1:4003': upstreamHost,
          data: database,
        })
        using audit = auditFile()
        await using program = startDeno([...flags, `--import-map=${importMap}`, copy(name)], {
          DENO_AUDIT_PERMISSIONS: audit.path,
        })
        await check(program, exchanges[name] ?? [])
        // The gateway asks its upstream only about groups, of which there are none.
        expect(unusedGrants(flags, audit.path).filter((grant) => grant !== 'net upstream.example:443')).toEqual([])
      }, 300_000)
    }
  })
}
