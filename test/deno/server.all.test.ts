/** Runs with `--all`: whole servers on Deno. test/runtime compares both runtimes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { CreatedUpload } from '../../plugins/file-storage/index.ts'
import { databaseNames } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { auditFile, commandsOf, unusedGrants, valuesOf, withValues } from './fixture.ts'

setDefaultTimeout(300_000)

describe('the server on Deno, with the permissions of its page', () => {
  for (const [nth, kind] of databaseNames.entries()) {
    test(`on ${kind}, serves every part of the API, and uses each permission`, async () => {
      await using fixture = await openServerFixture(kind, { text: { msPerDelta: 0 } })
      const flags = withValues(commandsOf('src/server.ts')[nth] ?? [], valuesOf(fixture))
      using audit = auditFile()
      const { text } = fixture.emulator
      const environment = {
        DENO_AUDIT_PERMISSIONS: audit.path,
        TEXT_UPSTREAM_URL: text.url,
        TEXT_UPSTREAM_KEY: text.key,
        METRICS_TOKEN: 'the-metrics-token',
      }
      const server = await fixture.start(environment, 'deno', flags)
      const { token } = await fixture.addUser('ann')
      const ask = async (path: string, body?: object, authorization = `Bearer ${token}`) => {
        const headers = { authorization, 'content-type': 'application/json' }
        const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
        const response = await fetch(`${server.url}${path}`, init)
        await response.text()
        return `${path} ${response.status}`
      }
      const upload = async () => {
        const headers = { authorization: `Bearer ${token}` }
        const body = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        const response = await fetch(`${server.url}/api/uploads`, { method: 'POST', headers, body })
        const { upload } = (await response.json()) as CreatedUpload
        return (await fetch(upload.url)).status
      }
      const chat = { model: 'doubao-seed-emulated', messages: [{ role: 'user', content: 'hello' }] }
      expect([
        await ask('/readyz'),
        await ask('/api/media/proxy/assets/groups', { Name: 'holidays' }),
        await ask('/api/media/proxy/assets'),
        await ask('/v1/chat/completions', chat),
        await ask('/v1/responses', { model: chat.model, input: 'hello', stream: true }),
        await ask('/api/session', { name: 'ann', password: 'wrong' }),
        await ask('/console'),
        await ask('/console/preact.js'),
        await ask('/openapi'),
        await upload(),
        await ask('/metrics', undefined, 'Bearer the-metrics-token'),
      ]).toEqual([
        '/readyz 200',
        '/api/media/proxy/assets/groups 200',
        '/api/media/proxy/assets 200',
        '/v1/chat/completions 200',
        '/v1/responses 200',
        '/api/session 401',
        '/console 200',
        '/console/preact.js 200',
        '/openapi 200',
        200,
        '/metrics 200',
      ])
      expect([await server.kill('SIGTERM'), server.stderr()]).toEqual([0, ''])
      expect(unusedGrants(flags, audit.path)).toEqual([])
    })
  }

  test('a missing permission costs only the part that needs it, and is named in the log', async () => {
    await using fixture = await openServerFixture()
    const { token } = await fixture.addUser('ann')
    const { text } = fixture.emulator
    const values = valuesOf(fixture)
    const [page = []] = commandsOf('src/server.ts')
    const startWithout = (permission: string, value: string) => {
      const flags = withValues(page, values).flatMap((flag) => {
        if (!flag.startsWith(`--allow-${permission}=`)) return [flag]
        const others = flag
          .slice(flag.indexOf('=') + 1)
          .split(',')
          .filter((each) => each !== value)
        return others.length === 0 ? [] : [`--allow-${permission}=${others}`]
      })
      return fixture.start({ TEXT_UPSTREAM_URL: text.url, TEXT_UPSTREAM_KEY: text.key }, 'deno', flags)
    }
    for (const { permission, value, statuses } of [
      { permission: 'net', value: values['upstream.example:443'], statuses: [200, 502, 200] },
      { permission: 'write', value: values.data, statuses: [503, 500, 500] },
    ]) {
      const server = await startWithout(permission, value)
      const received = ['/readyz', '/v1/models', '/console'].map(async (path) => {
        const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
        await response.bytes()
        return response.status
      })
      expect(await Promise.all(received)).toEqual(statuses)
      await server.kill('SIGTERM')
      expect(server.stderr()).toContain(`Requires ${permission} access to`)
    }
  })
})
