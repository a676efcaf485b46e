import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Encrypts the reasoning of models, so that clients can carry it from turn to turn (`encrypted_content`), as they do
 * with that of OpenAI.
 */
export interface SealedReasoning {
  /** Returns ASCII text that only `open` for the same user can read. */
  seal(text: string, user: string): string
  /**
   * Undefined for text that was changed, that another service, gateway or secret has encrypted, or that belongs to
   * another user.
   */
  open(sealed: string, user: string): string | undefined
}

/**
 * Creates the encryption: AES-256-GCM with a key derived from a secret (HKDF, RFC 5869), bound to the user.
 *
 * The first secret encrypts; all of them decrypt, so that a secret can be replaced while conversations last. Without
 * secrets the key is random.
 */
export const createSealedReasoning = (secrets: readonly string[] = []): SealedReasoning => {
  const derived = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'sluice sealed reasoning', 32)))
  const [first = randomBytes(32), ...others] = derived
  return {
    seal(text, user) {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv('aes-256-gcm', first, iv, { authTagLength: tagLength })
      cipher.setAAD(Buffer.from(user))
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return sealedPrefix + Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')
    },
    open(sealed, user) {
      if (!isSealed(sealed)) return undefined
      const bytes = Buffer.from(sealed.slice(sealedPrefix.length), 'base64url')
      if (bytes.length < ivLength + tagLength) return undefined
      for (const key of [first, ...others]) {
        const text = decrypt(key, bytes, user)
        if (text !== undefined) return text
      }
      return undefined
    },
  }
}

/** Says what the text is, so that text of other services is not decrypted in vain. */
export const sealedPrefix = 'sluice-reasoning-1.'

/** Whether a gateway has encrypted the text. It proves nothing: anybody can write such a text. */
export const isSealed = (text: string | undefined): boolean => text?.startsWith(sealedPrefix) ?? false

/** In bytes; see NIST SP 800-38D, section 8.2. */
const ivLength = 12
const tagLength = 16

const decrypt = (key: Buffer, bytes: Buffer, user: string): string | undefined => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
  decipher.setAAD(Buffer.from(user))
  decipher.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivLength + tagLength)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
