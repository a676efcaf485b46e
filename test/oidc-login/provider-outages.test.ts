import { describe, expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { repetitions } from '../support/repetitions.ts'
import { openFixture } from './fixture.ts'
import { json, outages } from './outages.ts'

const steps = {
  'the code': '/token',
  discovery: '/.well-known/openid-configuration',
  'the keys': '/jwks',
  UserInfo: '/me',
}

describe('a provider that fails logs nobody in, and works again afterwards', () => {
  for (const [step, failing] of repetitions(...Object.entries(steps))) {
    for (const [name, [respond, cause, page]] of Object.entries(outages)) {
      test(`at ${step}: it ${name}`, async () => {
        // Only a provider that is silent should meet this deadline, also on a busy machine.
        await using host = await openFixture({ timeoutMs: name.includes('never') ? 3_000 : 300_000 })
        host.provider.faults.respond = (path, response) => {
          if (path === failing) respond(response)
          return path === failing
        }
        const browser = host.browser()
        const failed = await host.login(browser)
        expect(failed).toMatchObject({ status: 502, text: expect.stringMatching(page) })
        expect([host.sessions, host.users.logins]).toEqual([[], []])
        expect(host.lines).toMatchObject([
          { level: 'warn', fields: { err: { message: expect.stringMatching(cause) } } },
        ])
        delete host.provider.faults.respond
        expect((await host.login(browser)).url).toBe(`${host.url}/console`)
      })
    }
  }

  test('it is not asked at the start, and may start later than this app', async () => {
    const port = await freePort()
    await using host = await openFixture({ provider: { port } })
    await host.provider.stop()
    expect(await host.login()).toMatchObject({ status: 502, text: expect.stringContaining('does not answer') })
    const client = {
      id: 'sluice',
      secret: 'secret of the client: /%+&:',
      redirectUri: `${host.url}${host.start}/callback`,
    }
    const provider = await startOidcProvider(client, { port })
    expect((await host.login()).url).toBe(`${host.url}/console`)
    await provider.stop()
  })
})

describe('metadata and keys of the provider', () => {
  const discoveries = ({ provider }: Awaited<ReturnType<typeof openFixture>>) =>
    provider.requests.filter((path) => path.startsWith('/.well-known/')).length

  test('the metadata are read once for all logins of ten minutes', async () => {
    let passedMs = 0
    await using host = await openFixture({ clock: { now: () => Date.now() + passedMs } })
    await Promise.all(Array.from({ length: 20 }, () => host.authorize(host.browser())))
    await host.login()
    expect(discoveries(host)).toBe(1)
    passedMs = 600_001
    await host.authorize(host.browser())
    expect(discoveries(host)).toBe(2)
  })

  test('the old metadata stay in use while new ones cannot be read, and the log says so', async () => {
    let passedMs = 0
    await using host = await openFixture({ clock: { now: () => Date.now() + passedMs } })
    await host.authorize(host.browser())
    passedMs = 600_001
    host.provider.faults.respond = (path, response) => {
      if (path.startsWith('/.well-known/')) response.destroy()
      return path.startsWith('/.well-known/')
    }
    expect(new URL((await host.authorize(host.browser())).href).searchParams.has('code')).toBe(true)
    expect(host.lines).toMatchObject([
      { level: 'warn', message: 'the metadata of the identity provider could not be read again' },
    ])
  })

  test('after a failed login they are read again, at most every half minute', async () => {
    let passedMs = 0
    await using host = await openFixture({ clock: { now: () => Date.now() + passedMs } })
    const fail = async () => {
      const browser = host.browser()
      const callback = await host.authorize(browser)
      callback.searchParams.set('code', 'wrong')
      await browser.send('GET', callback.href)
    }
    await fail()
    await fail()
    expect(discoveries(host)).toBe(1)
    passedMs = 30_001
    await fail()
    await fail()
    expect(discoveries(host)).toBe(2)
  })

  test.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'])('without %s nobody logs in', async (name) => {
    await using host = await openFixture({ provider: { metadata: (found) => ({ ...found, [name]: undefined }) } })
    expect((await host.login()).status).toBe(502)
    expect(host.lines).toMatchObject([{ fields: { err: { message: `the metadata have no ${name}` } } }])
    // They are not kept.
    delete host.provider.faults.metadata
    expect((await host.login()).url).toBe(`${host.url}/console`)
  })

  test('metadata of another issuer are those of another provider', async () => {
    await using host = await openFixture({
      provider: { metadata: (found) => ({ ...found, issuer: 'https://other.invalid' }) },
    })
    expect((await host.login()).status).toBe(502)
    expect(JSON.stringify(host.lines)).toContain('does not match the expected issuer')
  })

  test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'nothing is sent in clear text over a network: %s',
    async (name) => {
      await using host = await openFixture({
        provider: { metadata: (found) => ({ ...found, [name]: `http://provider.invalid/${name}` }) },
      })
      expect((await host.login()).status).toBe(502)
      expect(host.lines).toMatchObject([
        { fields: { err: { message: expect.stringContaining(`provider.invalid/${name} is not an https address`) } } },
      ])
      expect(host.sessions).toEqual([])
    },
  )

  test('a new key works at once, and a withdrawn one no more', async () => {
    await using host = await openFixture()
    await host.login()
    host.provider.faults.publishes = 'another key'
    const failed = await host.login()
    expect([failed.status, host.sessions.length]).toEqual([502, 1])
    const { privateKey } = host.provider.otherKey
    host.provider.faults.idToken = (claims, sign) => sign(claims, { key: privateKey, kid: '' })
    expect((await host.login()).url).toBe(`${host.url}/console`)
  })
})

describe('callbacks are bounded', () => {
  /** Callbacks that wait for the provider, from one network each. */
  const fill = async (host: Awaited<ReturnType<typeof openFixture>>, count: number, address: string) => {
    const started = await Promise.all(
      Array.from({ length: count }, async () => {
        const response = await fetch(host.url + host.start, { redirect: 'manual' })
        const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
        const state = new URL(response.headers.get('location') ?? '').searchParams.get('state')
        const query = new URLSearchParams({ code: 'x', state: state ?? '', iss: host.provider.issuer })
        return { url: `${host.url}${host.start}/callback?${query}`, headers: { cookie, 'x-address': address } }
      }),
    )
    return started.map(({ url, headers }) => fetch(url, { headers }))
  }
  const addressOf = ({ headers }: Request) => headers.get('x-address') ?? undefined

  test('16 ask the provider at once, 64 wait, and further ones get 503 with Retry-After', async () => {
    await using host = await openFixture({ addressOf })
    const asked = Promise.withResolvers<void>()
    const held: (() => void)[] = []
    host.provider.faults.respond = (path, response) => {
      if (path !== '/token') return false
      held.push(() => json(response, 400, '{"error":"invalid_grant"}'))
      if (held.length === 16) asked.resolve()
      return true
    }
    const waiting = await fill(host, 80, '192.0.2.1')
    await asked.promise
    const [rejected] = await fill(host, 1, '192.0.2.2')
    const { status, headers } = (await rejected) as Response
    expect([status, headers.get('retry-after'), held.length]).toEqual([503, '1', 16])
    // Another network displaces one of the waiting.
    const [other] = await fill(host, 1, '198.51.100.1')
    expect((await Promise.race(waiting)).status).toBe(503)
    host.provider.faults.respond = (path, response) => {
      if (path === '/token') json(response, 400, '{"error":"invalid_grant"}')
      return path === '/token'
    }
    for (const release of held) release()
    const statuses = (await Promise.all([...waiting, other as Promise<Response>])).map((response) => response.status)
    expect([statuses.filter((each) => each === 503).length, statuses.at(-1)]).toEqual([1, 502])
    expect(host.sessions).toEqual([])
  })
})
