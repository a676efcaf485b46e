import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'

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
  if (start !== undefined) return sha256(Buffer.from(url.slice(start.length), 'base64'))
  const read = digestOf && (await digestOf(url, signal).catch(() => undefined))
  return read ?? sha256(`address ${url}`)
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
