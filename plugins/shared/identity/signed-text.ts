import { Buffer } from 'node:buffer'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { signingSecret } from '../plugin/options.ts'

/** Signs texts that clients keep and send back, such as the place where the next page begins. */
export interface TextSigner {
  /**
   * The signed text: URL-safe, and longer than the text by half and 22 characters. It is readable, so the text must not
   * be secret.
   *
   * @param binding what it belongs to. It is signed, and not part of the result
   */
  sign(text: string, binding: string): string
  /** The text. Undefined: it was not signed with one of the secrets and this binding. */
  verify(signed: string, binding: string): string | undefined
}

const macBytes = 16

/** Creates a signer (HMAC-SHA-256). The first secret signs, all verify. Throws TypeError without secrets. */
export const createTextSigner = (secrets: readonly string[]): TextSigner => {
  const signing = signingSecret(secrets)
  const macOf = (secret: string, text: string, binding: string): Buffer =>
    createHmac('sha256', secret).update(`${binding}\n${text}`).digest().subarray(0, macBytes)
  return {
    sign: (text, binding) => Buffer.concat([macOf(signing, text, binding), Buffer.from(text)]).toString('base64url'),
    verify(signed, binding) {
      if (!/^[\w-]+$/.test(signed)) return undefined
      const bytes = Buffer.from(signed, 'base64url')
      // The decoder ignores unused bits of the last character. The comparison rejects texts that differ only in them.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== signed) return undefined
      const text = bytes.subarray(macBytes).toString()
      const mac = bytes.subarray(0, macBytes)
      return secrets.some((secret) => timingSafeEqual(macOf(secret, text, binding), mac)) ? text : undefined
    },
  }
}
