import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createCookies } from './cookie.ts'
import { readPublicUrl } from './origin.ts'
import type { SessionOptions } from './session.ts'

/**
 * Browsers that somebody has logged in from, each known by a signed cookie
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies): what strangers do to a name does not lock these out.
 */
export interface Devices {
  /** The browser's id for that name. Undefined when nobody of that name has logged in from it. */
  idOf(request: Request, name: string): string | undefined
  /** After a login: a new id for that name. The `Set-Cookie` header. */
  issue(request: Request, name: string): string
}

const maxAgeSeconds = 365 * 86_400
/** People who share a browser. */
const mostNames = 8
/** Characters of an id, and of the hash of a name: 96 bits each. */
const part = 16
const entryLength = 2 * part

/** The cookie is that of the session with `-device` at its end. It holds neither names nor anything to log in with. */
export const createDevices = ({
  secrets,
  publicUrl,
  cookieName = 'session',
}: Pick<SessionOptions, 'secrets' | 'publicUrl' | 'cookieName'>): Devices => {
  const [first, ...others] = secrets
  const cookies = createCookies({
    name: `${cookieName}-device`,
    // Of their own: what is signed as a session never passes for a device.
    secrets: [derive(first), ...others.map(derive)],
    secure: () => readPublicUrl(publicUrl).protocol === 'https:',
  })
  /** One for each name, newest first. */
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
        ?.slice(part)
    },
    issue(request, name) {
      const hash = hashOf(name)
      const others = entriesOf(request).filter((entry) => !entry.startsWith(hash))
      const entry = hash + randomBytes(12).toString('base64url')
      return cookies.issue([entry, ...others].slice(0, mostNames).join(''), maxAgeSeconds)
    },
  }
}

const derive = (secret: string): string => createHmac('sha256', secret).update('device').digest('base64url')

const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, part)
