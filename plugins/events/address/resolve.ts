import { getServers } from 'node:dns'
import type { AddressType } from './dns-message.ts'
import { queryAddresses } from './dns-query.ts'
import { createNameFiles } from './name-files.ts'

/**
 * Resolves a host name to its addresses, those of IPv4 first. Rejects when there is none. When the promise settles, no
 * query is open.
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** Options of `createResolve`. */
export interface ResolveOptions {
  /** Addresses of name servers, with a port if it is not 53. Default: those of the system. */
  readonly servers?: readonly string[]
  /** Milliseconds after which the queries are cancelled. What was received until then counts. Default 5,000. */
  readonly deadlineMs?: number
  /** Path of hosts(5). Default `/etc/hosts`. */
  readonly hosts?: string
  /**
   * Path of resolv.conf(5), for the name servers, and the domains in which names are looked up. Default
   * `/etc/resolv.conf`.
   */
  readonly config?: string
}

/**
 * For one query to one server. A response to a query that has been repeated does not count, so this must be longer than
 * a slow server takes.
 */
const queryMs = 3_000
const tries = 2
const addressTypes: readonly AddressType[] = ['A', 'AAAA']
const isLoopbackName = /(?:^|\.)localhost$/

/**
 * Creates a function that resolves names as the system does, by hosts(5) and then by its name servers, but without its
 * thread pool.
 *
 * `lookup` of `node:dns` occupies a thread until the system gives up. Files, passwords and the names of `fetch` wait
 * for the same few threads, so that users with names whose servers do not answer would stop everything. A query
 * (`queryAddresses`) only needs a socket, and can be cancelled.
 */
export const createResolve = (options: ResolveOptions = {}): Resolve => {
  const { servers, deadlineMs = 5_000, hosts = '/etc/hosts', config = '/etc/resolv.conf' } = options
  const files = createNameFiles(hosts, config)
  return async (host, signal) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    const known = files.addressesOf(name)
    if (known) return known
    // RFC 6761 section 6.3: no name server is asked.
    if (isLoopbackName.test(name)) return ['127.0.0.1', '::1']
    const ended = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
    const options = { servers: servers ?? files.servers() ?? runtimeServers(), queryMs, tries, signal: ended }
    const causes: string[] = []
    for (const candidate of files.candidatesOf(host)) {
      if (ended.aborted) break
      const addresses: string[] = []
      const full = candidate.replace(/\.$/, '')
      for (const answer of await Promise.allSettled(addressTypes.map((type) => queryAddresses(full, type, options)))) {
        if (answer.status === 'fulfilled') addresses.push(...answer.value)
        else causes.push(String(answer.reason))
      }
      if (addresses.length > 0) return addresses
    }
    throw new Error(['the name has no address', ...causes].join('; '))
  }
}

/**
 * The name servers of a system without resolv.conf(5). None if the runtime does not tell them: Deno may need a
 * permission.
 */
const runtimeServers = (): readonly string[] => {
  try {
    return getServers()
  } catch {
    return []
  }
}
