import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { nextTurn } from '../../shared/background/turns.ts'

/** Reads the file at an address, and resolves with the SHA-256 of its bytes, in hexadecimal digits. */
export type DigestOf = (url: string, signal: AbortSignal | undefined) => Promise<string>

const dataUrl = /^data:[^,]{0,100};base64,/i

/** Whether a URL has the file itself. */
export const holdsFile = (url: string): boolean => dataUrl.test(url)

/**
 * What tells a picture from others: the digest of its bytes. An address that cannot be read here counts by itself; it
 * then stands for one picture.
 */
export const pictureDigest = async (
  url: string,
  digestOf: DigestOf | undefined,
  signal: AbortSignal | undefined,
): Promise<string> => {
  const start = dataUrl.exec(url)?.[0]
  if (start !== undefined) return digestOfBase64(url, start.length)
  const read = digestOf && (await digestOf(url, signal).catch(() => undefined))
  return read ?? createHash('sha256').update(`address ${url}`).digest('hex')
}

/** In steps: a picture has up to 40 MB in base64, and others do not wait for all of it. */
const digestOfBase64 = async (text: string, from: number): Promise<string> => {
  const hash = createHash('sha256')
  for (let at = from; at < text.length; at += charactersPerTurn) {
    if (at > from) await nextTurn()
    hash.update(Buffer.from(text.slice(at, at + charactersPerTurn), 'base64'))
  }
  return hash.digest('hex')
}

/** A multiple of four: so many characters are whole bytes. */
const charactersPerTurn = 2 ** 18
