/** @typedef {'page' | 'session' | 'tokens' | 'usage' | 'library' | 'faceVerification' | 'text'} PathName */

/** The base paths with which the server was configured. */
const configured = /** @type {Record<PathName, string>} */ (JSON.parse(document.documentElement.dataset.paths ?? '{}'))

/** What stands before the page's own path: the prefix of an app around the console, or of a proxy. It stands before the other paths too. */
const outer = location.pathname.slice(0, -configured.page.length)

/** Base paths of the routes that the page calls. */
export const paths = /** @type {Record<PathName, string>} */ (
  Object.fromEntries(Object.entries(configured).map(([name, path]) => [name, outer + path]))
)
