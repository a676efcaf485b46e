import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { oidcLogin } from 'sluice/oidc-login'
import { MemoryUsers } from './fixture.ts'

/** An app with a login at a provider of that name, which has only metadata. */
const loginAt = (name: string) => {
  const issuer = `https://${name}.invalid`
  const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: issuer, jwks_uri: issuer }
  return new Elysia({ prefix: `/${name}` }).use(
    oidcLogin({
      ...{ issuer, clientId: name, clientSecret: 'client-secret', secrets: ['a secret of the tests'] },
      ...{ store: new MemoryUsers(), beginSession: async () => undefined, cookieName: name },
      publicUrl: `http://localhost/${name}`,
      fetch: async () => Response.json(metadata),
    }),
  )
}

test('two logins at different providers work in one app, and in an app inside of another one', async () => {
  const apps = new Elysia().use(new Elysia().use(loginAt('one'))).use(loginAt('two'))
  for (const name of ['one', 'two']) {
    const response = await apps.handle(new Request(`http://localhost/${name}/api/session/oidc`))
    const { origin, searchParams } = new URL(response.headers.get('location') ?? '')
    expect([response.status, origin, searchParams.get('client_id'), searchParams.get('redirect_uri')]).toEqual([
      303,
      `https://${name}.invalid`,
      name,
      `http://localhost/${name}/api/session/oidc/callback`,
    ])
    expect(response.headers.getSetCookie()[0]).toStartWith(`${name}=`)
  }
})
