import { createHmac } from 'node:crypto'
import { type PublicUrl, publicBase } from '../shared/http/origin.ts'
import { areMacsEqual } from '../shared/identity/equal-secrets.ts'
import { checkPath, checkPublicUrl, checkSecrets, signingSecret } from '../shared/plugin/options.ts'
import { checkFileKey, isFileKey } from './storage/storage.ts'

/** Signs links to files, and verifies them. */
export interface FileLinks {
  /**
   * The link to a file until a time, in milliseconds since 1970. The same arguments give the same link. No credential
   * is needed to read it. Throws TypeError for a text that is no key, and a time that no link can have.
   */
  urlOf(key: string, expiresAt: number): string
  /** When the link of a request expires. Undefined: nobody with a secret has signed it, or it has expired. */
  expiryOf(key: string, query: URLSearchParams, now: number): number | undefined
}

export interface FileLinksOptions {
  readonly publicUrl: PublicUrl
  /** Keys of at least 16 characters: the first signs, all verify. All processes need the same ones. */
  readonly secrets: readonly string[]
  /** Base path of the files. Default `/api/files`. */
  readonly prefix?: string
}

/**
 * Creates links of the form `{publicUrl}/api/files/{key}?expires={seconds since 1970}&signature=…` (HMAC-SHA-256).
 * Throws TypeError for wrong options.
 */
export const createFileLinks = ({ publicUrl, secrets, prefix = '/api/files' }: FileLinksOptions): FileLinks => {
  checkSecrets(secrets)
  checkPublicUrl(publicUrl)
  checkPath('prefix', prefix)
  // The secrets sign other texts too.
  const [signing = '', ...others] = [signingSecret(secrets), ...secrets.slice(1)].map((secret) =>
    createHmac('sha256', secret).update('link to a file').digest('base64url'),
  )
  const keys = [signing, ...others]
  return {
    urlOf(key, expiresAt) {
      // Rounded up: the link works until the time that the caller was told.
      const expires = String(Math.ceil(expiresAt / 1000))
      if (typeof expiresAt !== 'number' || !expiryForm.test(expires))
        throw new TypeError('expiresAt must be a time in milliseconds since 1970')
      return `${publicBase(publicUrl)}${prefix}/${checkFileKey(key)}?expires=${expires}&signature=${signatureOf(signing, key, expires)}`
    },
    expiryOf(key, query, now) {
      const expires = query.get('expires') ?? ''
      const signature = query.get('signature') ?? ''
      // Only the form that `urlOf` writes: a link has one spelling.
      if (!expiryForm.test(expires) || signature.length !== signatureLength || !isFileKey(key)) return undefined
      const isSigned = keys.some((secret) => areMacsEqual(signature, signatureOf(secret, key, expires)))
      const expiresAt = Number(expires) * 1000
      return isSigned && now < expiresAt ? expiresAt : undefined
    },
  }
}

const expiryForm = /^[1-9]\d{0,11}$/
const signatureLength = 43

const signatureOf = (secret: string, key: string, expires: string): string =>
  createHmac('sha256', secret).update(`${expires}\n${key}`).digest('base64url')
