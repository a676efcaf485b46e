import { Buffer } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIP } from 'node:net'
import { parseAddress } from '../../shared/http/client-address.ts'
import { type AddressType, type DnsAnswer, encodeQuery, readAnswer } from './dns-message.ts'

/** How name servers are asked. */
export interface DnsQueryOptions {
  /** Addresses of name servers, with a port if it is not 53, as `setServers` of `node:dns` takes them. */
  readonly servers: readonly string[]
  /** Milliseconds for one query to one server. */
  readonly queryMs: number
  /** How often each server is asked. */
  readonly tries: number
  /** Ends all queries. */
  readonly signal: AbortSignal
}

interface Server {
  readonly address: string
  readonly port: number
}

/** What is read of a response over TCP. It may have 64 KiB, and whoever owns a name decides what is in it. */
const maxBytes = 4_096

const noError = 0
const noSuchName = 3

/**
 * Asks name servers for the addresses of a name, one server after the other. Resolves with those in the first response;
 * an empty list: the name has none. Rejects with an error that has a code of `node:dns` when there is no usable
 * response. When the promise settles, no socket is open.
 *
 * The runtimes' own clients read a response of any length on the event loop, for up to a quarter of a second.
 */
export const queryAddresses = async (
  name: string,
  type: AddressType,
  { servers, queryMs, tries, signal }: DnsQueryOptions,
): Promise<readonly string[]> => {
  let failure = 'ENOSERVER'
  for (let nth = 0; nth < tries * servers.length && !signal.aborted; nth++) {
    const server = readServer(servers[nth % servers.length] ?? '')
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(queryMs)])
    const query = encodeQuery(randomInt(2 ** 16), name, type)
    try {
      const short = await askUdp(server, query, inTime)
      const { code, addresses } = short.truncated ? await askTcp(server, query, inTime) : short
      if (code === noError) return addresses
      if (code === noSuchName) throw new NoSuchName()
      failure = `ESERVFAIL (${code})`
    } catch (error) {
      if (error instanceof NoSuchName) throw new Error(`${type} ENOTFOUND ${name}`)
      failure = error instanceof Error && 'code' in error ? String(error.code) : 'ETIMEOUT'
    }
  }
  throw new Error(`${type} ${signal.aborted ? 'ECANCELLED' : failure} ${name}`)
}

class NoSuchName extends Error {}

const readServer = (text: string): Server => {
  if (isIP(text) !== 0) return { address: text, port: 53 }
  const [, address = '', port] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? []
  return { address, port: Number(port) }
}

/** Rejects with `signal`. `open` begins a query, and returns what ends it. */
const untilAborted = (
  signal: AbortSignal,
  open: (resolve: (answer: DnsAnswer) => void, reject: (error: unknown) => void) => () => void,
): Promise<DnsAnswer> =>
  new Promise((resolve, reject) => {
    let close: (() => void) | undefined
    let ended = false
    const end = (settle: () => void): void => {
      if (ended) return
      ended = true
      signal.removeEventListener('abort', abort)
      close?.()
      settle()
    }
    const abort = () => end(() => reject(new Error('no response in time')))
    signal.addEventListener('abort', abort)
    if (signal.aborted) return abort()
    close = open(
      (answer) => end(() => resolve(answer)),
      (error) => end(() => reject(error)),
    )
  })

const askUdp = ({ address, port }: Server, query: Buffer, signal: AbortSignal): Promise<DnsAnswer> =>
  untilAborted(signal, (resolve, reject) => {
    const socket = createSocket(isIP(address) === 6 ? 'udp6' : 'udp4')
    const server = parseAddress(address)
    socket.on('error', reject)
    // Anybody can send a datagram: it must come from the server, and have the random number and the question of the
    // query.
    socket.on('message', (message, from) => {
      if (from.port !== port || parseAddress(from.address) !== server) return
      const answer = readAnswer(Buffer.from(message), query)
      if (answer) resolve(answer)
    })
    // A connected socket learns that nobody listens at the port.
    socket.connect(port, address, () => socket.send(query, (error) => error && reject(error)))
    return () => socket.close()
  })

const askTcp = ({ address, port }: Server, query: Buffer, signal: AbortSignal): Promise<DnsAnswer> =>
  untilAborted(signal, (resolve, reject) => {
    const socket = connect({ host: address, port })
    let read = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed')))
    socket.on('connect', () =>
      socket.write(Buffer.concat([Buffer.from([query.length >> 8, query.length & 255]), query])),
    )
    socket.on('data', (bytes) => {
      read = Buffer.concat([read, bytes as Buffer])
      // RFC 1035 section 4.2.2: the length comes first.
      const length = read.length < 2 ? maxBytes : Math.min(read.readUInt16BE(0), maxBytes)
      if (read.length < 2 + length) return
      const answer = readAnswer(read.subarray(2, 2 + length), query)
      if (answer) resolve(answer)
      else reject(new Error('the response is not valid'))
    })
    return () => {
      socket.on('error', () => {})
      socket.destroy()
    }
  })
