/** The encoding of a leaked credential. */
export type LeakForm = 'plain' | 'escaped' | 'base64' | 'percent'

/** The part of the response that contains the leaked credential. */
export type LeakLocation = 'body' | 'content' | 'header'

/** A credential leak in a response. */
export interface Leak {
  readonly form?: LeakForm
  readonly location?: LeakLocation
}

const forms: Readonly<Record<LeakForm, (secret: string) => string>> = {
  plain: (secret) => secret,
  escaped: (secret) => `\\u${secret.charCodeAt(0).toString(16).padStart(4, '0')}${secret.slice(1)}`,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  percent: (secret) => [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
}

/** Non-empty text fields of both text protocols, and `Name` of the asset API. */
const textFields = /"(?:content|delta|text|arguments|Name)":"(?=[^"])/g

/** Puts the credential into `x-request-id`, a header that gateways forward. */
export const leakingHeaders = (leak: Leak, secret: string): Readonly<Record<string, string>> =>
  leak.location === 'header' ? { 'x-request-id': `req-${encoded(leak, secret)}` } : {}

/**
 * Adds the credential to JSON text: as an extra field, or in front of every text. Returns text that is no object
 * unchanged.
 */
export const leakingJson = (json: string, leak: Leak, secret: string): string => {
  if (leak.location === 'header' || !json.startsWith('{')) return json
  const credential = `Bearer ${encoded(leak, secret)}`
  if (leak.location === 'content') return json.replace(textFields, (start) => `${start}${credential} `)
  return `{"authorization":"${credential}"${json === '{}' ? '' : ','}${json.slice(1)}`
}

const encoded = ({ form = 'plain' }: Leak, secret: string): string => forms[form](secret)
