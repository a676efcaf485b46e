import { BlockList, isIP } from 'node:net'

/** An address, or what knows it when somebody asks. */
type Peer = string | { readonly address: string | undefined }

const peer = Symbol('peer')

type Delivered = Request & { [peer]?: Peer }

/** Keeps the address of the peer that a request comes from, which a `Request` does not say. For servers, before they hand it to the app. */
export const setPeerAddress = (request: Delivered, address: Peer | undefined): void => {
  request[peer] = address
}

/** Says where a request comes from; undefined where the server did not say. */
export type ClientAddressOf = (request: Request) => string | undefined

/**
 * Where requests come from: the peer's address. Of a proxy that is named here, what it says of its own peer: the last entry of `X-Forwarded-For`, and so on for
 * every entry that is such a proxy again. An entry that is no address ends the search: the proxy that wrote it is the last one known.
 *
 * @param trustedProxies addresses, and networks in CIDR notation (RFC 4632, RFC 4291 section 2.3). None: whoever connects may write what it likes into the header.
 */
export const createClientAddressOf = (trustedProxies: readonly string[] = []): ClientAddressOf => {
  const trusted = blockListOf(trustedProxies)
  return (request: Delivered) => {
    const delivered = request[peer]
    const text = typeof delivered === 'object' ? delivered.address : delivered
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

/**
 * One way to write an address (RFC 5952), without the zone of a link-local one: an IPv4 address within IPv6 (RFC 4291 section 2.5.5.2) is the IPv4 address. Undefined
 * for text that is no address.
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

/** Some proxies name the port too, `203.0.113.5:40001` or `[2001:db8::1]:40001`; every connection has another one. */
const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
