/** A host whose users better-auth keeps, with all parts of the gateway and the console behind its sessions. See better-auth.md. */
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins'
import { Elysia } from 'elysia'
import { assetLibrary, createNodeServer, type Identify } from 'sluice'
import { usageRoutes } from 'sluice/account'
import { consoleTokens, identifyByToken } from 'sluice/api-token'
import { consolePages } from 'sluice/console'
import { startEmulator } from 'sluice/emulator'
import { faceVerification } from 'sluice/face-verification'
import { requireSameOrigin } from 'sluice/shared'
import { openStore } from 'sluice/store'
import { type TextUpstream, textGeneration } from 'sluice/text-generation'
import { ark, type MediaKind } from 'sluice/upstream-proxy'

/** `oidc`: an OpenID provider at which users may log in too. */
export const createHost = async (publicUrl: string, kind: MediaKind, text: TextUpstream, oidc?: GenericOAuthConfig) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const endTokens = async (user: string) => void (await store.disableHostUser(user, Date.now()))
  const auth = betterAuth({
    baseURL: publicUrl,
    secret: await store.secret('better-auth'),
    database: new DatabaseSync(':memory:'),
    emailAndPassword: { enabled: true },
    // The tokens of a user who leaves must not work any more.
    user: { deleteUser: { enabled: true, beforeDelete: ({ id }) => endTokens(id) } },
    plugins: [genericOAuth({ config: oidc ? [{ ...oidc, requireIdTokenVerification: true }] : [] })],
    // With NODE_ENV=test, better-auth does not check origins unless told to.
    advanced: { disableOriginCheck: false },
  })
  await (await getMigrations(auth.options)).runMigrations()

  const userOf = async ({ headers }: Request) =>
    (await auth.api.getSession({ headers, query: { disableRefresh: true } }))?.user
  const bySession: Identify = async (request) => {
    const user = await userOf(request)
    return user && { user: user.id }
  }
  // Programs and the console use tokens, which a user creates with a session.
  const byToken = identifyByToken({ store })
  const usesToken = ({ headers }: Request) => headers.has('authorization')
  const callers = {
    identify: (request: Request) => (usesToken(request) ? byToken(request) : bySession(request)),
    // A browser sends the cookie also for pages of other sites, which must not change anything.
    requireSameOrigin: (request: Request) => usesToken(request) || requireSameOrigin(request, publicUrl),
  }
  const secrets = [await store.secret('pages')] as const
  const { gateway, upstream, assets } = assetLibrary({ ...callers, kind, store, secrets, background: true })
  return new Elysia()
    .mount(auth.handler)
    .use(gateway)
    .use(textGeneration({ ...callers, upstreams: [text], assets, objects: store, usage: store, background: true }))
    .use(faceVerification({ ...callers, upstream, store, publicUrl, background: true }))
    .use(consoleTokens({ store, identify: bySession, publicUrl }))
    .use(usageRoutes({ store, identify: bySession }))
    .use(consolePages({ login: '/login' }))
    .get('/login', ({ set }) => {
      set.headers['content-type'] = 'text/html; charset=utf-8'
      return loginPage
    })
    .get('/api/session', async ({ request, status }) => {
      const user = await userOf(request)
      return user ? { success: true, user: { id: user.id, name: user.name } } : status(401)
    })
    .delete('/api/session', ({ request }) => {
      requireSameOrigin(request, publicUrl)
      return auth.api.signOut({ headers: request.headers, asResponse: true })
    })
}

/** Stands for the login page that your app has. */
const loginPage = `<!doctype html><title>Log in</title>
<form><label>E-mail <input name="email"></label> <label>Password <input name="password" type="password"></label> <button>Log in</button></form>
<script>
  document.forms[0].onsubmit = async (event) => {
    event.preventDefault()
    const body = JSON.stringify(Object.fromEntries(new FormData(event.target)))
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/auth/sign-in/email', { method: 'POST', headers, body })
    if (response.ok) location.href = '/console'
  }
</script>`

if (import.meta.main) {
  const emulator = await startEmulator()
  const host = await createHost('http://localhost:3000', ark(emulator.ark), emulator.text)
  await createNodeServer(host).listen(3000)
}
