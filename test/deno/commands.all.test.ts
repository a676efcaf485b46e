/** Runs with `--all`: the admin command, the demo and the emulator on Deno, in many processes. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { databaseNames } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { auditFile, commandsOf, startDeno, unusedGrants, valuesOf, withValues } from './fixture.ts'

setDefaultTimeout(300_000)

describe('on Deno, with the permissions of its page', () => {
  for (const [nth, kind] of databaseNames.entries()) {
    test(`the admin command works on ${kind}`, async () => {
      await using fixture = await openServerFixture(kind)
      using audit = auditFile()
      const flags = withValues(commandsOf('src/admin.ts')[nth] ?? [], valuesOf(fixture))
      const { DATABASE_URL = '' } = fixture.environment
      const admin = (...args: readonly string[]) =>
        startDeno([...flags, 'src/admin.ts', ...args], { DATABASE_URL, DENO_AUDIT_PERMISSIONS: audit.path }).ended()
      expect(await admin('user', 'add', 'ann', '--password', 'a long password')).toMatchObject({
        status: 0,
        errors: '',
      })
      const { output: token } = await admin('token', 'add', 'ann')
      expect(token).toStartWith('sk-')
      expect((await admin('audit')).output.split('\n')).toHaveLength(2)
      expect(unusedGrants(flags, audit.path)).toEqual([])
    })
  }

  test('the demo starts, and its user, token and console work', async () => {
    using audit = auditFile()
    const [flags = []] = commandsOf('src/demo.ts')
    await using demo = startDeno([...flags, 'src/demo.ts'], { PORT: '0', DENO_AUDIT_PERMISSIONS: audit.path })
    const [, url, password, token] = await demo.printed(
      /listens on (\S+)\. [\s\S]*password {2}(\S+)\n {2}token {5}(\S+)[\s\S]*Ctrl-C stops everything/,
    )
    const status = async (path: string, init?: RequestInit) => (await fetch(`${url}${path}`, init)).status
    const json = { 'content-type': 'application/json' }
    const credentials = JSON.stringify({ name: 'demo', password })
    expect(await status('/api/session', { method: 'POST', headers: json, body: credentials })).toBe(200)
    const headers = { authorization: `Bearer ${token}` }
    expect(await status('/api/media/proxy/assets', { headers })).toBe(200)
    expect(await status('/v1/models', { headers })).toBe(200)
    const body = JSON.stringify({ model: 'chat-only', input: 'Hello' })
    expect(await status('/v1/responses', { method: 'POST', headers: { ...headers, ...json }, body })).toBe(200)
    expect(await status('/console')).toBe(200)
    demo.stop()
    expect(await demo.ended()).toMatchObject({ status: 0, errors: '' })
    expect(unusedGrants(flags, audit.path)).toEqual([])
  })

  test('the emulator starts', async () => {
    using audit = auditFile()
    const [flags = []] = commandsOf('src/emulator/main.ts')
    await using emulator = startDeno([...flags, 'src/emulator/main.ts'], { DENO_AUDIT_PERMISSIONS: audit.path })
    const [, url] = await emulator.printed(/^emulator listening on (\S+)$/m)
    expect((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer x' } })).status).toBe(401)
    expect(unusedGrants(flags, audit.path)).toEqual([])
  })
})
