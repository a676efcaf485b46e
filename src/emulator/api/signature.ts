import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../shared/hash.ts'
import { splitTarget } from '../shared/paths.ts'
import { ArkError } from './ark-error.ts'

const skewMs = 15 * 60_000
const form = /^HMAC-SHA256\s+Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/

/** A request to verify, with its original bytes. Header names are in lower case. */
export interface SignedRequest {
  readonly method: string
  /** path and query */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The accepted credentials and the credential scope. */
export interface Signer {
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly service: string
}

/**
 * The hash of the canonical request and its expected signature (https://www.volcengine.com/docs/6369/67269 and
 * `/4640/2122634`).
 */
export const expectedSignature = (request: SignedRequest, signed: readonly string[], signer: Signer) => {
  const date = request.headers['x-date'] ?? ''
  const scope = [date.slice(0, 8), signer.region, signer.service, 'request']
  const [path, query] = splitTarget(request.target)
  const headers = signed.map((name) => `${name}:${(request.headers[name] ?? '').trim()}\n`).join('')
  const canonical = [request.method, path, sortedQuery(query), headers, signed.join(';'), sha256(request.body)].join(
    '\n',
  )
  const canonicalHash = sha256(canonical)
  const toSign = ['HMAC-SHA256', date, scope.join('/'), canonicalHash].join('\n')
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), signer.secretKey)
  return { canonicalHash, signature: hmac(key, toSign).toString('hex') }
}

/** Throws 401 when the signature is missing, malformed, wrong, of another key, or more than 15 minutes off. */
export const checkSignature = (request: SignedRequest, signer: Signer, now: number): void => {
  const { authorization, 'x-date': date, 'x-content-sha256': bodyHash } = request.headers
  if (!authorization) throw new ArkError(401, 'MissingParameter.Authorization', 'The request is not signed.')
  if (!date) throw new ArkError(401, 'MissingParameter.X-Date', 'The header X-Date is missing.')
  const [, credential = '', names = '', signature = ''] = authorization.match(form) ?? []
  if (!credential) throw mismatch('The header Authorization is malformed.')

  const [accessKey, day, region, service, end, ...rest] = credential.split('/')
  if (accessKey !== signer.accessKey) throw new ArkError(401, 'InvalidAccessKeyId', 'The access key does not exist.')
  if (region !== signer.region) throw mismatch(`The region of the credential must be ${signer.region}.`)
  if (service !== signer.service) throw mismatch(`The service of the credential must be ${signer.service}.`)
  if (end !== 'request' || rest.length > 0) throw mismatch('The scope of the credential must end with request.')
  if (day !== date.slice(0, 8)) throw mismatch('The day of the credential is not the day of X-Date.')
  if (!(Math.abs(now - instant(date)) <= skewMs)) throw mismatch('X-Date is malformed or more than 15 minutes off.')

  const signed = names.split(';')
  for (const name of ['host', 'x-date'])
    if (!signed.includes(name)) throw mismatch(`The header ${name} must be signed.`)
  if (signed.join() !== [...signed].sort().join()) throw mismatch('SignedHeaders must be sorted and in lower case.')
  for (const name of signed) if (!(name in request.headers)) throw mismatch(`The signed header ${name} is missing.`)
  if (bodyHash !== undefined && bodyHash !== sha256(request.body))
    throw mismatch('X-Content-Sha256 is not the hash of the body.')

  const expected = expectedSignature(request, signed, signer)
  if (!timingSafeEqual(Buffer.from(signature, 'hex'), Buffer.from(expected.signature, 'hex'))) {
    throw mismatch(`The signature does not match; the canonical request hashes to ${expected.canonicalHash}.`)
  }
}

/** The canonical query: percent-encoded (RFC 3986), sorted by name and value. */
const sortedQuery = (query: string): string => {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [escaped(name), escaped(value)] as const)
  pairs.sort(([a, x], [b, y]) => order(a, b) || order(x, y))
  return pairs.map((pair) => pair.join('=')).join('&')
}

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const instant = (date: string): number => {
  const [, y, mo, d, h, mi, s] = date.match(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/) ?? []
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
}

const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

const mismatch = (message: string): ArkError => new ArkError(401, 'SignatureDoesNotMatch', message)
