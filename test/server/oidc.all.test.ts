/** Runs with `--all`: whole servers on both databases and runtimes, with browsers; test/oidc-login holds the same rules in one process. */
import { describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { outages } from '../oidc-login/outages.ts'
import { wrongAnswers } from '../oidc-login/wrong-answers.ts'
import { freePort } from '../support/free-port.ts'
import type { ServerProcess } from '../support/server.ts'
import { login as logInWithPassword, send, until } from './fixture.ts'
import { clientSecret, databaseNames, openOidcServer } from './oidc.ts'

const auditOf = async ({ fixture }: { readonly fixture: { readonly store: { listAudit(filter: object): unknown } } }) =>
  (await fixture.store.listAudit({})) as readonly {
    action: string
    user?: string
    reason?: string
    fields?: string[]
  }[]

const linesOf = ({ stderr }: ServerProcess) => stderr()

describe.each(databaseNames)('login at an identity provider, on %s', (kind) => {
  test('begins a session like any other, also when the provider starts after the server', async () => {
    await using host = await openOidcServer({ kind })
    const browser = host.browser()
    const failed = await host.login(browser)
    expect([failed.status, failed.text]).toEqual([502, expect.stringContaining('does not answer')])
    const provider = await host.startProvider()
    expect(new URL((await host.login(browser)).url).pathname).toBe('/console')
    expect(await host.who(browser)).toBe('dora')
    expect(browser.cookies.get('session')).toMatch(/^[\w-]{43}\.[\w+/]{43}$/)
    // It creates tokens, and ends when the user logs out.
    const created = await browser.send('POST', '/api/tokens', { label: 'mine' })
    expect(created.status).toBe(200)
    const { token } = JSON.parse(created.text).token
    const headers = { authorization: `Bearer ${token}` }
    expect((await send(host.server.url, 'GET', '/api/media/proxy/assets/groups', undefined, headers)).status).toBe(200)
    expect((await browser.send('DELETE', '/api/session')).status).toBe(200)
    expect(await host.who(browser)).toBeUndefined()
    // The next login is of the same user, in another browser.
    const other = host.browser()
    await host.login(other)
    expect(JSON.parse((await other.send('GET', '/api/tokens')).text).tokens).toMatchObject([{ label: 'mine' }])
    // A disabled user stays out, within a second and at the next login.
    const dora = await host.fixture.store.adminUserByName('dora')
    expect(dora).toMatchObject({ login: 'oidc', role: 'user' })
    await host.fixture.store.changeUser(dora?.id ?? '', { disabled: true }, { now: Date.now() })
    expect(await host.who(other)).toBeUndefined()
    expect((await host.login(other)).status).toBe(403)
    expect(await host.who(other)).toBeUndefined()
    const isDenied = ({ action, reason }: Awaited<ReturnType<typeof auditOf>>[number]) =>
      action === 'session.fail' && reason === 'oidc: not-allowed'
    await until(async () => (await auditOf(host)).some(isDenied))
    const audit = await auditOf(host)
    const user = dora?.id
    expect(audit.filter((entry) => entry.user === user && entry.reason === 'oidc')).toMatchObject([
      { action: 'user.create' },
      { action: 'session.login' },
      { action: 'session.login' },
    ])
    expect(provider.requests).toContain('/token')
  })

  test('follows the claims: who may log in, and who is admin, but the last admin stays', async () => {
    await using host = await openOidcServer({
      kind,
      environment: { OIDC_ALLOWED: '{"hd":["corp.example"]}', OIDC_ADMIN: '{"groups":["operators"]}' },
    })
    const { account } = await host.startProvider()
    const browser = host.browser()
    const roleAfterLogin = async () => {
      await host.login(browser)
      return (await host.fixture.store.adminUserByName('dora'))?.role
    }
    expect(await roleAfterLogin()).toBeUndefined()
    account.hd = 'corp.example'
    expect(await roleAfterLogin()).toBe('user')
    account.groups = ['operators']
    expect(await roleAfterLogin()).toBe('admin')
    account.groups = []
    // She is the only admin.
    expect(await roleAfterLogin()).toBe('admin')
    await until(() => linesOf(host.server).includes('the last enabled admin stays admin'))
    await host.fixture.store.addAdminUser({ name: 'root', role: 'admin', createdAt: 1 })
    expect(await roleAfterLogin()).toBe('user')
    const updates = async () => (await auditOf(host)).filter(({ action }) => action === 'user.update')
    await until(async () => (await updates()).length > 1)
    expect(await updates()).toMatchObject([{ fields: ['role'] }, { fields: ['role'] }])
  })

  test('never takes over a user with a password, whose invitation does', async () => {
    await using host = await openOidcServer({ kind })
    const id = await host.fixture.addPerson('DORA')
    await host.startProvider()
    const browser = host.browser()
    const denied = await host.login(browser)
    expect([denied.status, denied.text]).toEqual([409, expect.stringContaining('has your name')])
    expect(await host.who(browser)).toBeUndefined()
    expect((await logInWithPassword(host.server.url, 'DORA')).status).toBe(200)
    const secret = randomBytes(32).toString('base64url')
    const hash = createHash('sha256').update(secret).digest('hex')
    await host.fixture.store.addInvitation(id, { hash, createdAt: Date.now(), expiresAt: Date.now() + 60_000 })
    await host.login(browser, `?invitation=${secret}`)
    expect(await host.who(browser)).toBe('DORA')
    expect((await logInWithPassword(host.server.url, 'DORA')).status).toBe(401)
    expect((await host.login(host.browser(), `?invitation=${secret}x`)).status).toBe(200)
  })
})

describe('the server', () => {
  test('with PASSWORD_LOGIN=off refuses passwords, and the console shows only the button', async () => {
    await using host = await openOidcServer({ environment: { PASSWORD_LOGIN: 'off', OIDC_LABEL: "Dora's company" } })
    await host.fixture.addPerson('ann')
    const { status, json } = await logInWithPassword(host.server.url, 'ann')
    expect([status, json.error.message]).toEqual([403, 'users do not log in with a password here'])
    const { text } = await send(host.server.url, 'GET', '/console')
    const [, login = ''] = /data-login='([^']*)'/.exec(text) ?? []
    expect(JSON.parse(login.replaceAll('&#39;', "'"))).toEqual({
      address: '/api/session/oidc',
      label: "Dora's company",
      form: false,
      invitation: true,
    })
    await host.startProvider()
    const browser = host.browser()
    await host.login(browser)
    expect(await host.who(browser)).toBe('dora')
  })

  test('with both logins shows both in the console', async () => {
    await using host = await openOidcServer()
    const { text } = await send(host.server.url, 'GET', '/console')
    expect(text).toContain(`data-login='{"address":"/api/session/oidc","form":true,"invitation":true}'`)
    await host.fixture.addPerson('ann')
    expect((await logInWithPassword(host.server.url, 'ann')).status).toBe(200)
  })

  test('describes the routes, whose errors without a cookie are documented', async () => {
    await using host = await openOidcServer()
    const { json } = await send(host.server.url, 'GET', '/openapi/json')
    expect(Object.keys(json.paths)).toEqual(expect.arrayContaining(['/api/session/oidc', '/api/session/oidc/callback']))
    expect((await send(host.server.url, 'GET', '/api/session/oidc/callback?code=x&state=y')).status).toBe(400)
    expect((await send(host.server.url, 'GET', '/api/session/oidc')).status).toBe(502)
    const page = await send(host.server.url, 'GET', '/api/session/oidc/callback', undefined, { accept: 'text/html' })
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none'; style-src 'sha256-")
    await host.startProvider()
    const started = await send(host.server.url, 'GET', '/api/session/oidc')
    expect([started.status, started.headers.get('cache-control')]).toEqual([303, 'no-store'])
  })

  test('writes no code, state, token, cookie or secret into its log, at level trace', async () => {
    await using host = await openOidcServer({ environment: { LOG_LEVEL: 'trace' } })
    const provider = await host.startProvider()
    const browser = host.browser()
    const secrets: string[] = [clientSecret]
    provider.faults.answer = ({ searchParams }) => {
      for (const name of ['code', 'state']) secrets.push(searchParams.get(name) ?? '')
    }
    provider.faults.tokenResponse = (body) => {
      secrets.push(String(body.access_token), String(body.id_token))
      return body
    }
    await host.login(browser)
    secrets.push(...browser.cookies.values())
    provider.faults.idToken = (claims, sign) => sign({ ...claims, nonce: 'other' })
    await host.login(browser)
    provider.faults.idToken = () => 'no.token'
    await host.login(browser)
    provider.faults.respond = (path, response) => {
      if (path === '/token') response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"x"}')
      return path === '/token'
    }
    await host.login(browser)
    await host.server.kill('SIGTERM')
    const log = linesOf(host.server)
    expect(log).toContain('"path":"/api/session/oidc/callback"')
    expect(log.match(/could not be verified/g)).toHaveLength(3)
    expect(secrets.length).toBeGreaterThan(12)
    for (const secret of secrets) expect(log).not.toContain(secret)
  })

  test('without an identity provider has no such route', async () => {
    await using host = await openOidcServer()
    const server = await host.fixture.start({ OIDC_ISSUER: '' })
    expect((await fetch(`${server.url}/api/session/oidc`)).status).toBe(404)
    expect(await (await fetch(`${server.url}/console`)).text()).not.toContain('data-login')
  })

  test('ends a login that another process has started, on the same database', async () => {
    // A port that no other process is given while no server listens on it.
    await using host = await openOidcServer({ environment: { PORT: String(await freePort()) } })
    await host.startProvider()
    const browser = host.browser()
    const isCallback = ({ pathname }: URL) => pathname === '/api/session/oidc/callback'
    const callback = new URL((await browser.send('GET', '/api/session/oidc', undefined, isCallback)).url)
    const { port } = new URL(host.server.url)
    await host.server.kill('SIGTERM')
    const next = await host.fixture.start({
      ...{ PORT: port, OIDC_ISSUER: callback.searchParams.get('iss') ?? '', OIDC_CLIENT_ID: 'sluice' },
      OIDC_CLIENT_SECRET: clientSecret,
    })
    await until(async () => (await fetch(`${next.url}/readyz`)).ok)
    await browser.send('GET', callback.href)
    expect(await host.who(browser)).toBe('dora')
  })
})

test('on Deno a login at an identity provider works, and no wrong answer logs anybody in', async () => {
  await using host = await openOidcServer({ runtime: 'deno' })
  const browser = host.browser()
  expect((await host.login(browser)).status).toBe(502)
  const provider = await host.startProvider({ fullIdToken: true })
  await host.login(browser)
  expect(await host.who(browser)).toBe('dora')
  await browser.send('DELETE', '/api/session')
  for (const [name, [faults, status]] of Object.entries(wrongAnswers)) {
    // Metadata are read once.
    if (/metadata allow|UserInfo/.test(name)) continue
    const found = typeof faults === 'function' ? faults(provider) : faults
    Object.assign(provider.faults, found)
    expect([name, (await host.login(browser)).status]).toEqual([name, status])
    expect([name, await host.who(browser)]).toEqual([name, undefined])
    for (const fault of Object.keys(found)) delete provider.faults[fault as keyof typeof found]
  }
  for (const [name, [respond]] of Object.entries(outages)) {
    if (/never/.test(name)) continue
    for (const failing of ['/token', '/jwks']) {
      provider.faults.respond = (path, response) => {
        if (path === failing) respond(response)
        return path === failing
      }
      expect([name, failing, (await host.login(browser)).status]).toEqual([name, failing, 502])
      expect(await host.who(browser)).toBeUndefined()
    }
  }
  delete provider.faults.respond
  await host.login(browser)
  expect(await host.who(browser)).toBe('dora')
}, 300_000)
