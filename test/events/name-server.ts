import { Buffer } from 'node:buffer'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** What a name server says: addresses and names of a chain of aliases, an error (RFC 1035 section 4.1.1), or nothing at all. */
export type Answer =
  | { readonly addresses: readonly string[]; readonly aliases?: readonly string[] }
  | 'SERVFAIL'
  | 'NXDOMAIN'
  | 'none'

export interface NameServer extends AsyncDisposable {
  /** For `servers` of `createResolve`. */
  readonly address: string
  /** The names of the queries, with `A` or `AAAA`. */
  readonly queries: readonly string[]
}

const codes = { NXDOMAIN: 3, SERVFAIL: 2 }
const maxUdpBytes = 512

/**
 * A name server on 127.0.0.1, over UDP, and over TCP for what does not fit.
 *
 * @param answer what it says of a name; it may take its time
 * @param wantedPort default: any that is free
 */
export const startNameServer = async (
  answer: (name: string, type: string) => Answer | Promise<Answer>,
  wantedPort = 0,
): Promise<NameServer> => {
  const queries: string[] = []
  const respond = async (query: Buffer): Promise<Buffer | undefined> => {
    const { name, type, question } = readQuery(query)
    const typeName = type === 1 ? 'A' : 'AAAA'
    queries.push(`${name} ${typeName}`)
    const said = await answer(name, typeName)
    if (said === 'none') return undefined
    if (typeof said === 'string') return message(query, question, [], codes[said])
    const { addresses, aliases = [] } = said
    // Each record is of the name before it.
    const chain = aliases.map((alias, nth) =>
      record(nth === 0 ? self : nameBytes(aliases[nth - 1] ?? ''), 5, nameBytes(alias)),
    )
    const owner = aliases.length === 0 ? self : nameBytes(aliases.at(-1) ?? '')
    const data = addresses.filter((address) => address.includes(':') === (type === 28)).map(addressBytes)
    return message(query, question, [...chain, ...data.map((bytes) => record(owner, type, bytes))])
  }
  const { udp, tcp, port } = await listen(wantedPort)
  udp.on('message', async (query, { port: from, address }) => {
    const response = await respond(query)
    const truncated = response && response.length > maxUdpBytes ? withoutRecords(response) : response
    if (truncated) udp.send(truncated, from, address, () => {})
  })
  tcp.on('connection', (socket) => {
    socket.on('error', () => {})
    let read = Buffer.alloc(0)
    socket.on('data', async (bytes) => {
      read = Buffer.concat([read, bytes as Buffer])
      while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
        const query = read.subarray(2, 2 + read.readUInt16BE(0))
        read = read.subarray(2 + query.length)
        const response = await respond(query)
        if (response) socket.write(Buffer.concat([uint16(response.length), response]))
      }
    })
  })
  return {
    address: `127.0.0.1:${port}`,
    queries,
    async [Symbol.asyncDispose]() {
      udp.close()
      tcp.close()
    },
  }
}

/** Sockets on a port of 127.0.0.1. @param wanted default: one that is free for both */
export const listen = async (
  wanted = 0,
): Promise<{ readonly udp: Socket; readonly tcp: Server; readonly port: number }> => {
  for (;;) {
    const tcp = createServer().listen(wanted, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isFree) return { udp, tcp, port }
    udp.close()
    tcp.close()
  }
}

const readQuery = (query: Buffer) => {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    question: query.subarray(12, at + 5),
  }
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])
/** A pointer to the name in the question. */
const self = Buffer.from([0xc0, 12])
const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.from([0]),
  ])

const addressBytes = (address: string): Buffer => {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const [first, last] = [head, tail].map((part) =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16)),
  )
  const [high = [], low = []] = [first, last]
  return Buffer.concat([...high, ...new Array<number>(8 - high.length - low.length).fill(0), ...low].map(uint16))
}

const record = (owner: Buffer, type: number, data: Buffer): Buffer =>
  Buffer.concat([owner, uint16(type), uint16(1), Buffer.from([0, 0, 0, 60]), uint16(data.length), data])

const message = (query: Buffer, question: Buffer, records: readonly Buffer[], code = 0): Buffer =>
  Buffer.concat([
    ...[query.subarray(0, 2), uint16(0x8180 | code), uint16(1), uint16(records.length), uint16(0), uint16(0)],
    ...[question, ...records],
  ])

/** The same response, marked as truncated: the client asks again over TCP. */
const withoutRecords = (response: Buffer): Buffer => {
  const { question } = readQuery(response)
  return Buffer.concat([response.subarray(0, 2), uint16(0x8380), uint16(1), Buffer.alloc(6), question])
}
