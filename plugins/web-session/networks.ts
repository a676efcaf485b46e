import { readAddress } from '../shared/address.ts'

/** A network that an address lies in. */
export interface Network {
  /** Of one form for one network. */
  readonly name: string
  /** How many single customers' worth of mistakes it may make. */
  readonly share: number
}

/**
 * The networks that somebody may have all addresses of, smallest first. Of IPv6 that is never less than 64 bits (RFC 4291 section 2.5.1); customers get 56 or 48 bits
 * (RFC 6177 section 2). Of IPv4 it is the address itself, and the smallest network that is routed. Text that is no address is a network of its own.
 */
export const networksOf = (text: string): readonly Network[] => {
  const address = readAddress(text)
  if (address === undefined) return [{ name: text, share: 1 }]
  if (!address.includes(':')) {
    return [
      { name: `${address}/32`, share: 1 },
      { name: `${address.slice(0, address.lastIndexOf('.'))}.0/24`, share: 16 },
    ]
  }
  const [a, b, c, d] = groupsOf(address)
  return [
    { name: `${a}:${b}:${c}:${d}::/64`, share: 1 },
    { name: `${a}:${b}:${c}:${(Number.parseInt(d ?? '', 16) & 0xff00).toString(16)}::/56`, share: 4 },
    { name: `${a}:${b}:${c}::/48`, share: 16 },
  ]
}

/** All eight of an IPv6 address, without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  const [before = [], after = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}
