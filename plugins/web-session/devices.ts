import { createHash, createHmac, randomBytes } from 'node:crypto'
import { readPublicUrl } from '../shared/http/origin.ts'
import { createCookies } from '../shared/login/cookie.ts'
import type { SessionOptions } from './session.ts'

/**
 * Device cookies: signed cookies of browsers from which a user has logged in
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). Failed logins of others do
 * not lock out such a browser.
 */
export interface Devices {
  /** The browser's device id for a user name. Undefined when no user of that name has logged in from it. */
  idOf(request: Request, name: string): string | undefined
  /** Issues a new device id for a user name, after a login. Returns the `Set-Cookie` header. */
  issue(request: Request, name: string): string
}

const maxAgeSeconds = 365 * 86_400
/** User names that one browser can hold an id for. */
const maxNames = 8
/** Length of an id, and of the hash of a name, in characters: 96 bits each. */
const hashLength = 16
const entryLength = 2 * hashLength

/**
 * Creates the device cookies. The cookie's name is that of the session cookie with `-device`; it contains no user name,
 * and no session.
 */
export const createDevices = ({
  secrets,
  publicUrl,
  cookieName = 'session',
}: Pick<SessionOptions, 'secrets' | 'publicUrl' | 'cookieName'>): Devices => {
  const cookies = createCookies({
    name: `${cookieName}-device`,
    // Derived keys: a signed session value is never a valid device value.
    secrets: secrets.map(derive),
    secure: () => readPublicUrl(publicUrl).protocol === 'https:',
  })
  /** The cookie's entries, each the hash of a name followed by the device id. Newest first. */
  const entriesOf = (request: Request): readonly string[] =>
    cookies
      .readAll(request)
      .filter((value) => value.length % entryLength === 0)
      .flatMap((value) => value.match(/.{32}/g) ?? [])

  return {
    idOf(request, name) {
      const hash = hashOf(name)
      return entriesOf(request)
        .find((entry) => entry.startsWith(hash))
        ?.slice(hashLength)
    },
    issue(request, name) {
      const hash = hashOf(name)
      const others = entriesOf(request).filter((entry) => !entry.startsWith(hash))
      const entry = hash + randomBytes(12).toString('base64url')
      return cookies.issue([entry, ...others].slice(0, maxNames).join(''), maxAgeSeconds)
    },
  }
}

const derive = (secret: string): string => createHmac('sha256', secret).update('device').digest('base64url')

const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, hashLength)
