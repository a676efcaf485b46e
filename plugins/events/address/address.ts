import { isIP } from 'node:net'
import { createIsInNetworks, parseAddress } from '../../shared/http/client-address.ts'
import { createResolve, type Resolve } from './resolve.ts'

/**
 * What is not public among the IPv4 addresses: https://www.iana.org/assignments/iana-ipv4-special-registry, multicast,
 * and a cloud's metadata service.
 */
const special4 = createIsInNetworks([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/3', '168.63.129.16/32'],
])

/** Global unicast addresses. All others, such as link-local and unique local ones, are not public. */
const global6 = createIsInNetworks(['2000::/3'])
/**
 * What is not public among them, and what contains an IPv4 address:
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const special6 = createIsInNetworks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])
/** RFC 6052 section 2.1: the last 32 bits are an IPv4 address. */
const nat64 = createIsInNetworks(['64:ff9b::/96'])

/**
 * Whether an IP address belongs to the public internet. False for an address with a zone, and for text that is no
 * address.
 */
export const isPublicAddress = (text: string): boolean => {
  const address = text.includes('%') ? undefined : parseAddress(text)
  if (address === undefined) return false
  if (isIP(address) === 4) return !special4(address)
  if (nat64(address)) return !special4(lastFourBytes(address))
  return global6(address) && !special6(address)
}

/** The last 32 bits of a canonical IPv6 address, as an IPv4 address. */
const lastFourBytes = (address: string): string => {
  const groups = address.split(':')
  const [high, low] = [groups.at(-2) || '0', groups.at(-1) || '0'].map((group) => Number.parseInt(group, 16))
  return [high, low].flatMap((group = 0) => [group >> 8, group & 255]).join('.')
}

/** Where a gateway may send requests that its users have asked for. */
export interface TargetRules {
  /** Networks with addresses that are not public, to which requests may go all the same. */
  readonly isAllowed: (address: string) => boolean
  /** Default: `createResolve()`. */
  readonly resolve?: Resolve
}

/** The rules for these networks. Default: none, so that only public addresses are reached. */
export const createTargetRules = (networks: readonly string[] = []): TargetRules => {
  const isIn = createIsInNetworks(networks)
  return {
    isAllowed: (text) => {
      const address = text.includes('%') ? undefined : parseAddress(text)
      return address !== undefined && (isPublicAddress(address) || isIn(address))
    },
  }
}

const maxUrlCharacters = 2_048
/** Names that only a private network resolves (RFC 6761, RFC 6762, RFC 8375, ICANN's private-use name). */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa|invalid|test|onion)\.?$/i

/**
 * What is wrong with an address to which requests would go; undefined: nothing. The end of a sentence that starts with
 * the name of the field.
 *
 * It does not resolve a name: that happens before each request.
 */
export const targetProblem = (text: string, { isAllowed }: TargetRules): string | undefined => {
  const url = text.length <= maxUrlCharacters ? URL.parse(text) : null
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username ||
    url.password ||
    url.hash ||
    /[\s\\\p{Cc}]/u.test(text) ||
    !text.isWellFormed()
  ) {
    return `must be an http or https URL of at most ${maxUrlCharacters} characters, without credentials and fragment`
  }
  const address = addressIn(url)
  if (address === undefined ? isPrivateName(url.hostname, isAllowed) : !isAllowed(address)) {
    return 'must be on the public internet'
  }
  return undefined
}

/** A name that only a private network resolves. Where the operator allows loopback addresses, `localhost` is none. */
const isPrivateName = (name: string, isAllowed: TargetRules['isAllowed']): boolean =>
  privateName.test(name) && !(name === 'localhost' && isAllowed('127.0.0.1'))

/** The IP address in a URL. Undefined: it has a name. */
const addressIn = ({ hostname }: URL): string | undefined => {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) === 0 ? undefined : plain
}

/** For all reasons the same: which internal names exist, and what they resolve to, is not told. */
const notFound = 'the host cannot be reached at a public address'

/**
 * The addresses of a URL's host that requests may go to: the first of each family, because the network of this process
 * may have only one. Rejects with an error whose message the user may see, when there is none.
 */
export const findTargets = async (
  url: URL,
  { isAllowed, resolve = resolveName }: TargetRules,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const literal = addressIn(url)
  const addresses =
    literal === undefined
      ? await resolve(url.hostname, signal).catch((cause: unknown) => {
          throw new Error(notFound, { cause })
        })
      : [literal]
  const allowed = addresses.filter(isAllowed)
  const found = [4, 6].flatMap((family) => allowed.find((address) => isIP(address) === family) ?? [])
  if (found.length === 0) throw new Error(notFound, { cause: `none of ${addresses.join(', ')} is allowed` })
  return found
}

const resolveName = createResolve()
