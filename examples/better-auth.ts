/** A host whose users better-auth keeps, with all parts of the gateway behind its sessions. See better-auth.md. */
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins'
import { Elysia } from 'elysia'
import { assetLibrary, createNodeServer, type Identify } from 'sluice'
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
  const auth = betterAuth({
    baseURL: publicUrl,
    secret: await store.secret('better-auth'),
    database: new DatabaseSync(':memory:'),
    emailAndPassword: { enabled: true },
    plugins: [genericOAuth({ config: oidc ? [{ ...oidc, requireIdTokenVerification: true }] : [] })],
    // With NODE_ENV=test, better-auth does not check origins unless told to.
    advanced: { disableOriginCheck: false },
  })
  await (await getMigrations(auth.options)).runMigrations()

  const identify: Identify = async ({ headers }) => {
    const found = await auth.api.getSession({ headers, query: { disableRefresh: true } })
    return found ? { user: found.user.id } : undefined
  }
  // A browser sends the cookie also for pages of other sites, which must not change anything.
  const callers = { identify, requireSameOrigin: (request: Request) => requireSameOrigin(request, publicUrl) }
  const secrets = [await store.secret('pages')] as const
  const { gateway, upstream, assets } = assetLibrary({ ...callers, kind, store, secrets, background: true })
  return new Elysia()
    .mount(auth.handler)
    .use(gateway)
    .use(textGeneration({ ...callers, upstreams: [text], assets, objects: store, usage: store, background: true }))
    .use(faceVerification({ ...callers, upstream, store, publicUrl, background: true }))
}

if (import.meta.main) {
  const emulator = await startEmulator()
  const host = await createHost('http://localhost:3000', ark(emulator.ark), emulator.text)
  await createNodeServer(host).listen(3000)
}
