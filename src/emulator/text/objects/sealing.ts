import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { isJson } from '../../shared/reader.ts'
import { OpenAIError } from '../openai-error.ts'

/** What encrypted content holds. */
export interface SealedContent {
  /** the id of its item */
  readonly id: string
  readonly text: string
}

/** Encrypts content that the caller keeps and sends back. */
export interface Sealing {
  seal(content: SealedContent): string
  /**
   * Decrypts content of the item `id`, if the item has one. Throws 400 `invalid_encrypted_content` for foreign or
   * changed content.
   */
  open(sealed: string, id: string | undefined): SealedContent
}

/** Encrypted content of the API begins like this. */
const prefix = 'gAAAAA'
const ivBytes = 12
const tagBytes = 16

/** Creates the encryption of an account: content of an account with another key cannot be opened. */
export const createSealing = (accountKey: string): Sealing => {
  const key = hash(`sealing ${accountKey}`)
  return {
    seal(content) {
      const plain = JSON.stringify(content)
      // derived from the content, so that nothing is random; equal content gives equal bytes
      const iv = hash(`iv ${plain}`).subarray(0, ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return prefix + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, id) {
      const content = opened(sealed, key)
      if (content === undefined) throw invalid(sealed, id, 'Encrypted content could not be decrypted or parsed.')
      if (id === undefined || id === content.id) return content
      throw invalid(sealed, id, 'Encrypted content item_id did not match the target item id.')
    },
  }
}

const opened = (sealed: string, key: Buffer): SealedContent | undefined => {
  if (!sealed.startsWith(prefix)) return undefined
  const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes))
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
    const plain = decipher.update(bytes.subarray(ivBytes + tagBytes))
    const content: unknown = JSON.parse(Buffer.concat([plain, decipher.final()]).toString())
    return isJson(content) ? { id: String(content.id), text: String(content.text) } : undefined
  } catch {
    return undefined
  }
}

const invalid = (sealed: string, id: string | undefined, reason: string): OpenAIError => {
  const named = id === undefined ? `${sealed.slice(0, 4)}...${sealed.slice(-4)}` : `for item ${id}`
  const errorMessage = `The encrypted content ${named} could not be verified. Reason: ${reason}`
  return new OpenAIError(400, errorMessage, { code: 'invalid_encrypted_content' })
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
