/** The addresses of each screen, below its name: its parts, where `:` stands for an id. */
export const addresses = /** @satisfies {Readonly<Record<string, readonly string[]>>} */ ({
  groups: ['', 'all', 'shared', 'AIGC', 'AIGC/:', 'LivenessFace', 'LivenessFace/:'],
  asset: [':'],
  shares: [':'],
  consents: [':'],
  batches: ['', ':', 'new', 'new/AIGC', 'new/AIGC/:', 'new/LivenessFace', 'new/LivenessFace/:'],
  videos: ['', ':', 'new'],
  face: [''],
  chat: ['', ':'],
  usage: [''],
  account: [''],
  tokens: ['', 'connect', 'webhooks'],
  admin: [
    ...['', 'overview', 'users', 'users/:', 'teams', 'tokens', 'usage', 'audit', 'settings'],
    ...['decisions', 'decisions/groups', 'decisions/videos', 'decisions/batches', 'consents', 'consents/:'],
  ],
})

/** @typedef {keyof typeof addresses} ScreenName */

/** What no id contains, or is: the server refuses these, and some of them change the path of a request. */
const forbidden = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}/\\?#%,"\ufffd]|^\.{1,2}$/u
const maxIdLength = 256

/** @param {string} part */
const isId = (part) => part.length <= maxIdLength && !forbidden.test(part)

/**
 * The screen at an address. Undefined: there is nothing, such as where an id is missing.
 * @param {import('./route.js').Route} route
 * @returns {ScreenName | undefined}
 */
export const screenAt = ({ screen, parts }) => {
  const name = screen === '' && parts.length === 0 ? 'groups' : screen
  if (!Object.hasOwn(addresses, name)) return undefined
  const isKnown = addresses[/** @type {ScreenName} */ (name)].some((address) => {
    const expected = address === '' ? [] : address.split('/')
    return expected.length === parts.length && expected.every((one, at) => matches(one, parts[at] ?? ''))
  })
  return isKnown ? /** @type {ScreenName} */ (name) : undefined
}

/** @param {string} expected @param {string} part */
const matches = (expected, part) => (expected === ':' ? isId(part) : part === expected)
