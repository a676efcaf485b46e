/** The users of better-auth, and who of them sends a request. */
import { DatabaseSync } from 'node:sqlite'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins'
import type { Identify } from 'sluice'
import { identifyByToken } from 'sluice/api-token'
import { requireSameOrigin } from 'sluice/shared'
import type { Store } from 'sluice/store'

export const openUsers = async (publicUrl: string, store: Store, oidc?: GenericOAuthConfig) => {
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
  return { auth, userOf, bySession, callers }
}
