import { Buffer } from 'node:buffer'
import { parseAddress } from '../../shared/http/client-address.ts'

/** Types of records that have an address (RFC 1035 section 3.2.2, RFC 3596 section 2.1). */
export type AddressType = 'A' | 'AAAA'

/** What a name server has said. */
export interface DnsAnswer {
  /** RFC 1035 section 4.1.1. */
  readonly code: number
  /** The message is not complete: the server has more to say over TCP. */
  readonly truncated: boolean
  readonly addresses: readonly string[]
}

const types: Readonly<Record<AddressType, number>> = { A: 1, AAAA: 28 }
const headerBytes = 12
const maxNameBytes = 255
const maxLabelBytes = 63
/** More are not read: a response may have thousands. */
const maxAddresses = 16

/**
 * A query for the addresses of a name, in ASCII (RFC 1035 section 4.1). Throws Error for a name that no message can
 * contain.
 */
export const encodeQuery = (id: number, name: string, type: AddressType): Buffer => {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'))
  if (labels.some(({ length }) => length === 0 || length > maxLabelBytes) || name.length + 2 > maxNameBytes)
    throw new Error(`EBADNAME ${name}`)
  return Buffer.concat([
    // Recursion is desired; one question.
    ...[uint16(id), uint16(0x0100), uint16(1), Buffer.alloc(6)],
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    ...[Buffer.alloc(1), uint16(types[type]), uint16(1)],
  ])
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

/**
 * Reads the first addresses in a response to a query, whatever names they have, because the server has followed the
 * aliases. Undefined: the message is no response to this query.
 *
 * The message may end anywhere. Names are skipped, not read, so the time grows with its length only.
 */
export const readAnswer = (message: Buffer, query: Buffer): DnsAnswer | undefined => {
  const [id, flags] = message.length >= headerBytes ? [message.readUInt16BE(0), message.readUInt16BE(2)] : []
  if (flags === undefined || id !== query.readUInt16BE(0) || (flags & 0x8000) === 0) return undefined
  const question = (of: Buffer): string => of.toString('latin1', headerBytes, query.length).toLowerCase()
  if (message.readUInt16BE(4) !== 1 || question(message) !== question(query)) return undefined
  const wanted = query.readUInt16BE(query.length - 4)
  const addresses: string[] = []
  let at = query.length
  for (let left = message.readUInt16BE(6); left > 0 && addresses.length < maxAddresses; left--) {
    const fixed = afterName(message, at)
    if (fixed + 10 > message.length) break
    const data = fixed + 10
    at = data + message.readUInt16BE(fixed + 8)
    if (at > message.length) break
    const address = message.readUInt16BE(fixed) === wanted ? addressOf(message.subarray(data, at), wanted) : undefined
    if (address !== undefined) addresses.push(address)
  }
  return { code: flags & 15, truncated: (flags & 0x0200) !== 0, addresses }
}

/** The position after a name, which ends with an empty label or with a pointer (RFC 1035 section 4.1.4). */
const afterName = (message: Buffer, from: number): number => {
  let at = from
  for (let length = message[at]; length !== undefined; length = message[at]) {
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    at += length + 1
  }
  return message.length
}

const addressOf = (data: Buffer, type: number): string | undefined => {
  if (type === types.A) return data.length === 4 ? data.join('.') : undefined
  if (data.length !== 16) return undefined
  return parseAddress(Array.from({ length: 8 }, (_, nth) => data.readUInt16BE(2 * nth).toString(16)).join(':'))
}
