import { BlockList, isIP } from 'node:net'

/** The address of the peer, or an object that provides it on access. */
type Peer = string | { readonly address: string | undefined }

const peer = Symbol('peer')

type Delivered = Request & { [peer]?: Peer }

/**
 * Attaches the peer's address to a request, because `Request` has no such property. A server calls it before it passes
 * the request to the app.
 */
export const setPeerAddress = (request: Delivered, address: Peer | undefined): void => {
  request[peer] = address
}

/** Attaches the peer's address of one request to another, which the app makes on behalf of the same peer. */
export const copyPeerAddress = (from: Delivered, to: Delivered): void => {
  setPeerAddress(to, peerAddressOf(from))
}

/** Returns the client address of a request; undefined if the server has not set a peer address. */
export type ClientAddressOf = (request: Request) => string | undefined

/**
 * Creates a function that returns the client address of a request: the peer's address, or, behind trusted proxies, an
 * entry of `X-Forwarded-For`.
 *
 * If the peer is a trusted proxy, the last entry of `X-Forwarded-For` is the client address. If that entry is a trusted
 * proxy too, the entry before it counts, and so on. The search stops at an entry that is not an address; the result is
 * then the proxy that wrote this entry.
 *
 * @param trustedProxies addresses and networks in CIDR notation (RFC 4632, RFC 4291 section 2.3). Default: none,
 * because any client can send the header.
 */
export const createClientAddressOf = (trustedProxies: readonly string[] = []): ClientAddressOf => {
  const trusted = blockListOf(trustedProxies)
  return (request: Delivered) => {
    const text = peerAddressOf(request)
    let address = text === undefined ? undefined : parseAddress(text)
    if (address === undefined) return text
    if (!isIn(trusted, address)) return address
    const entries = (request.headers.get('x-forwarded-for') ?? '').split(',')
    while (isIn(trusted, address)) {
      const next = parseAddress(withoutPort(entries.pop()?.trim() ?? ''))
      if (next === undefined) break
      address = next
    }
    return address
  }
}

/** Creates a function that returns whether the peer of a request, not its client, is a trusted proxy. */
export const createIsTrustedPeer = (trustedProxies: readonly string[] = []): ((request: Request) => boolean) => {
  const trusted = blockListOf(trustedProxies)
  return (request) => {
    const address = parseAddress(peerAddressOf(request) ?? '')
    return address !== undefined && isIn(trusted, address)
  }
}

/** Creates a function that returns whether an address (`parseAddress`) is in one of the networks. */
export const createIsInNetworks = (networks: readonly string[]): ((address: string) => boolean) => {
  const list = blockListOf(networks)
  return (address) => isIn(list, address)
}

/** The address of the peer of a request; undefined if the server has not set it. */
export const peerAddressOf = (request: Delivered): string | undefined => {
  const delivered = request[peer]
  return typeof delivered === 'object' ? delivered.address : delivered
}

/**
 * Returns the canonical text of an IP address (RFC 5952), without a zone; undefined if the text is not an address.
 *
 * An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) becomes the IPv4 address.
 */
export const parseAddress = (text: string): string | undefined => {
  const [plain = ''] = text.split('%', 1)
  const family = isIP(plain)
  if (family === 0) return undefined
  if (family === 4) return plain
  const compressed = new URL(`http://[${plain}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed) ?? []
  if (high === undefined || low === undefined) return compressed
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

const isIn = (list: BlockList, address: string): boolean => list.check(address, familyOf(address))

const blockListOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

/**
 * Removes a port, which some proxies append: `203.0.113.5:40001` or `[2001:db8::1]:40001`. It differs for each
 * connection.
 */
const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
