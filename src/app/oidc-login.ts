import type { OidcLoginOptions, oidcLogin } from '../../plugins/oidc-login/index.ts'
import { beginSession, type SessionOptions } from '../../plugins/web-session/index.ts'
import type { OidcConfig } from '../config/oidc.ts'

/** The login of the default server at an identity provider. */
export interface ServerOidcLogin {
  /** Text of the console's button. */
  readonly label?: string
  /** Creates the routes. */
  readonly create: (options: Pick<OidcLoginOptions, 'errors' | 'log' | 'audit'>) => ReturnType<typeof oidcLogin>
}

/** What the sessions and the users of the server are. */
export type OidcLoginDependencies = SessionOptions & Pick<OidcLoginOptions, 'store' | 'addressOf'>

/** Prepares the login at an identity provider. Nothing of `openid-client` is loaded before. */
export const openOidcLogin = async (
  { label, ...provider }: OidcConfig,
  { addressOf, ...session }: OidcLoginDependencies,
): Promise<ServerOidcLogin> => {
  const { oidcLogin } = await import('../../plugins/oidc-login/index.ts')
  const { store, secrets, publicUrl, cookieName } = session
  return {
    ...(label !== undefined && { label }),
    create: (options) =>
      oidcLogin({
        ...options,
        ...provider,
        ...{ store, secrets, publicUrl, addressOf, beginSession: beginSession(session) },
        // As for the session: no other host of the domain can set such a cookie.
        ...(cookieName?.startsWith('__Host-') && { cookieName: '__Host-oidc' }),
      }),
  }
}
