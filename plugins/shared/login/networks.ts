import { parseAddress } from '../http/client-address.ts'

/** A network that contains a client address. */
export interface Network {
  /** Canonical name: the same text for every address in the network. */
  readonly name: string
  /** Factor for the number of failed logins that the network may make. */
  readonly share: number
}

/**
 * The networks of an address, smallest first. One attacker may control every address of such a network.
 *
 * IPv6: the /64, which is the smallest subnet (RFC 4291 section 2.5.1), the /56 and the /48, which customers get (RFC
 * 6177 section 2). IPv4: the address, and the /24, which is the smallest routed network. Text that is not an address is
 * a network of its own.
 */
export const networksOf = (text: string): readonly Network[] => {
  const address = parseAddress(text)
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

/** The eight groups of an IPv6 address, without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  const [before = [], after = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')))
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}
