/** A host whose users better-auth keeps, with all parts of the gateway and the console behind its sessions. See better-auth.md. */
import type { GenericOAuthConfig } from 'better-auth/plugins'
import { Elysia } from 'elysia'
import { assetLibrary, createNodeServer } from 'sluice'
import { usageRoutes } from 'sluice/account'
import { consoleTokens } from 'sluice/api-token'
import { startEmulator } from 'sluice/emulator'
import { faceVerification } from 'sluice/face-verification'
import { openStore } from 'sluice/store'
import { type TextUpstream, textGeneration } from 'sluice/text-generation'
import { ark, type MediaKind } from 'sluice/upstream-proxy'
import { consoleFor } from './better-auth/console.ts'
import { openUsers } from './better-auth/users.ts'

/** `oidc`: an OpenID provider at which users may log in too. */
export const createHost = async (publicUrl: string, kind: MediaKind, text: TextUpstream, oidc?: GenericOAuthConfig) => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const users = await openUsers(publicUrl, store, oidc)
  const { auth, bySession, callers } = users
  const secrets = [await store.secret('pages')] as const
  const { gateway, upstream, assets } = assetLibrary({ ...callers, kind, store, secrets, background: true })
  return new Elysia()
    .mount(auth.handler)
    .use(gateway)
    .use(textGeneration({ ...callers, upstreams: [text], assets, objects: store, usage: store, background: true }))
    .use(faceVerification({ ...callers, upstream, store, publicUrl, background: true }))
    .use(consoleTokens({ store, identify: bySession, publicUrl }))
    .use(usageRoutes({ store, identify: bySession }))
    .use(consoleFor(users, publicUrl))
}

if (import.meta.main) {
  const emulator = await startEmulator()
  const host = await createHost('http://localhost:3000', ark(emulator.ark), emulator.text)
  await createNodeServer(host).listen(3000)
}
