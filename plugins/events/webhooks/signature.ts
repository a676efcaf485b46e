import { createHmac, randomBytes } from 'node:crypto'

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme */
const prefix = 'whsec_'

/** A random key of 256 bits, in the form in which its receiver configures it. */
export const createSecret = (): string => prefix + randomBytes(32).toString('base64')

/**
 * The headers that identify and sign a message.
 *
 * @param at seconds since 1970
 * @param secrets the receiver accepts a signature by any of them
 */
export const signedHeaders = (
  messageId: string,
  at: number,
  body: string,
  secrets: readonly string[],
): Readonly<Record<string, string>> => {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${messageId}.${at}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(at),
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}
