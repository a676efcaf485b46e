/** How a credential is written where it does not belong. */
export type LeakForm = 'plain' | 'escaped' | 'base64' | 'percent'

/** Where a credential turns up. */
export type LeakPlace = 'body' | 'content' | 'header'

/** A credential in an answer. */
export interface Leak {
  readonly form?: LeakForm
  readonly place?: LeakPlace
}

const FORMS: Readonly<Record<LeakForm, (secret: string) => string>> = {
  plain: (secret) => secret,
  escaped: (secret) => `\\u${secret.charCodeAt(0).toString(16).padStart(4, '0')}${secret.slice(1)}`,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  percent: (secret) => [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
}

/** Fields of both protocols that carry text, where there is some. */
const TEXTS = /"(?:content|delta|text|arguments|Name)":"(?=[^"])/g

/** Headers with the credential in one that gateways pass on. */
export function leakingHeaders(leak: Leak, secret: string): Readonly<Record<string, string>> {
  return leak.place === 'header' ? { 'x-request-id': `req-${written(leak, secret)}` } : {}
}

/** A text of JSON with the credential in a field of its own, or in front of every text in it. What is no object stays as it is. */
export function leakingJson(json: string, leak: Leak, secret: string): string {
  if (leak.place === 'header' || !json.startsWith('{')) return json
  const told = `Bearer ${written(leak, secret)}`
  if (leak.place === 'content') return json.replace(TEXTS, (start) => `${start}${told} `)
  return `{"authorization":"${told}"${json === '{}' ? '' : ','}${json.slice(1)}`
}

function written({ form = 'plain' }: Leak, secret: string): string {
  return FORMS[form](secret)
}
