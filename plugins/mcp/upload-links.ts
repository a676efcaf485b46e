import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { membersOf } from '../shared/json/parsed.ts'

/** Links with which a client uploads files as the caller, without the caller's credential. */
export interface UploadLinks {
  /** The last part of a link's path. Undefined: no header has a credential, so that no link can stand for it. */
  create(headers: Headers, expiresAt: number): string | undefined
  /** The credential in a link, as headers. Undefined: no secret has made it, or it has expired. */
  open(link: string, now: number): Readonly<Record<string, string>> | undefined
}

/**
 * Creates the links of a server.
 *
 * A link holds the caller's credential, encrypted (AES-256-GCM): no process keeps anything, and the upload is
 * authenticated when it comes, so a link ends with the credential that it was made with. The first secret encrypts, all
 * decrypt.
 */
export const createUploadLinks = (secrets: readonly string[]): UploadLinks => {
  // The secrets sign other texts too.
  const keys = secrets.map((secret) => createHmac('sha256', secret).update('upload link of mcp').digest())
  const [encrypting = Buffer.alloc(0)] = keys
  return {
    create(headers, expiresAt) {
      const name = credentialHeaders.find((each) => headers.has(each))
      if (name === undefined) return undefined
      const text = JSON.stringify({ name, value: headers.get(name), until: expiresAt })
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', encrypting, nonce)
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64url')
    },
    open(link, now) {
      if (link.length > maxLinkLength || !/^[\w-]+$/.test(link)) return undefined
      const bytes = Buffer.from(link, 'base64url')
      // The decoder ignores unused bits of the last character: a link has one spelling.
      if (bytes.length <= nonceBytes + tagBytes || bytes.toString('base64url') !== link) return undefined
      for (const key of keys) {
        const { name, value, until } = membersOf(decrypted(bytes, key))
        if (typeof name !== 'string' || typeof value !== 'string' || typeof until !== 'number') continue
        return now < until ? { [name]: value } : undefined
      }
      return undefined
    },
  }
}

/** Where callers may have a credential, in the order in which `identifyByToken` looks for it. */
const credentialHeaders = ['authorization', 'x-api-key', 'api-key']

const nonceBytes = 12
const tagBytes = 16
/** Characters of a link's last part: longer than that of any token. */
const maxLinkLength = 4_096

const decrypted = (bytes: Buffer, key: Buffer): unknown => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}
