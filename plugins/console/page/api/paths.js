/** @typedef {'page' | 'session' | 'tokens' | 'usage' | 'library' | 'faceVerification' | 'text'} PathName */
/**
 * Paths that a server may lack.
 * @typedef {'video' | 'uploads' | 'events' | 'webhooks' | 'invitations' | 'account' | 'admin' | 'limits' |
 * 'documentation' | 'failureAdvice' | 'mcp' | 'shares' | 'batches' | 'consents'} OptionalPathName
 */

/** The base paths with which the server was configured. */
const configured = /** @type {Record<PathName, string> & Partial<Record<OptionalPathName, string>>} */ (
  JSON.parse(document.documentElement.dataset.paths ?? '{}')
)

/**
 * What stands before the page's own path: the prefix of an app around the console, or of a proxy. It stands before the
 * other paths too.
 */
const outer = location.pathname.slice(0, -configured.page.length)

/** Base paths of the routes that the page calls. One that is undefined is not offered by the server. */
export const paths = /** @type {typeof configured} */ (
  Object.fromEntries(Object.entries(configured).map(([name, path]) => [name, outer + path]))
)

/** @typedef {{ address: string, label?: string, form: boolean, invitation?: boolean }} ElsewhereLogin */

/** @type {ElsewhereLogin | undefined} */
const configuredLogin = JSON.parse(document.documentElement.dataset.login ?? 'null') ?? undefined

/** A login outside the page. Undefined: users log in by the page's form. */
export const elsewhere = configuredLogin && {
  ...configuredLogin,
  address: (configuredLogin.address.startsWith('/') ? outer : '') + configuredLogin.address,
}
