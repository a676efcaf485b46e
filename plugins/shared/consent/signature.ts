import { Buffer } from 'node:buffer'
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto'

/** A public key of the type `Ed25519` as a JSON Web Key (RFC 8037). Its id is its thumbprint (RFC 7638). */
export interface SigningKeyView {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly kid: string
}

/** The signature in a document. */
export interface DocumentSignature {
  readonly algorithm: 'Ed25519'
  /** Id of the key that has signed. */
  readonly key: string
  /** The 64 bytes of the signature (RFC 8032) in lower-case hexadecimal. */
  readonly value: string
}

/** Signs documents. */
export interface DocumentSigner {
  /** The public keys: the first one signs, all verify. */
  readonly keys: readonly SigningKeyView[]
  /** The document with its signature, as canonical JSON. It must not have a member `signature`. */
  sign(document: object): string
}

/**
 * Signs documents with keys that are derived from secrets: HKDF with SHA-256 (RFC 5869) gives the seed of each. All
 * processes with the same secrets have the same keys.
 */
export const createDocumentSigner = (secrets: readonly string[]): DocumentSigner => {
  const pairs = secrets.map(keyPairOf)
  const [first] = pairs
  if (!first) throw new TypeError('secrets must have at least one')
  return {
    keys: pairs.map(({ view }) => view),
    sign(document) {
      const value = sign(null, Buffer.from(canonicalJson(document)), first.secret).toString('hex')
      const signature: DocumentSignature = { algorithm: 'Ed25519', key: first.view.kid, value }
      return canonicalJson({ ...document, signature })
    },
  }
}

/**
 * Whether a document is signed by one of the keys, and has been changed in no byte. The keys must be those that the
 * server publishes, not some that came with the document.
 *
 * @example
 * const keys = [{ kty: 'OKP', crv: 'Ed25519', x: '…', kid: '…' }] as const
 * verifyDocument('{"Consent":{},"signature":{}}', keys)
 */
export const verifyDocument = (text: string, keys: readonly SigningKeyView[]): boolean => {
  const document = parsed(text)
  if (typeof document !== 'object' || document === null || canonicalJson(document) !== text) return false
  const { signature, ...signed } = document as { readonly signature?: Partial<DocumentSignature> }
  const { algorithm, key: id, value } = signature ?? {}
  const key = keys.find(({ kid }) => kid === id)
  if (!key || algorithm !== 'Ed25519' || typeof value !== 'string' || !/^[0-9a-f]{128}$/.test(value)) return false
  const { kty, crv, x } = key
  const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
  return verify(null, Buffer.from(canonicalJson(signed)), publicKey, Buffer.from(value, 'hex'))
}

/**
 * Canonical JSON (RFC 8785) of values without fractions: no spaces, and the members of each object in the order of
 * their names.
 */
export const canonicalJson = (value: unknown): string => {
  if (value instanceof CanonicalText) return value.text
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    .join()}}`
}

/** A part of a document that is canonical JSON already. */
export class CanonicalText {
  constructor(readonly text: string) {}
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The part of a private key of that type before its 32 bytes (PKCS #8, RFC 8410 section 7). */
const privateKeyStart = Buffer.from('302e020100300506032b657004220420', 'hex')

const keyPairOf = (secret: string): { readonly secret: KeyObject; readonly view: SigningKeyView } => {
  const seed = new Uint8Array(hkdfSync('sha256', secret, '', 'sluice consent export Ed25519', 32))
  const key = createPrivateKey({ key: Buffer.concat([privateKeyStart, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url')
  return { secret: key, view: { kty: 'OKP', crv: 'Ed25519', x, kid } }
}
