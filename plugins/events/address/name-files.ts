import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** What the files of a system say about names. */
export interface NameFiles {
  /**
   * The addresses of a name in hosts(5), without its last dot and in lower case. Undefined: the file does not contain
   * it.
   */
  addressesOf(name: string): readonly string[] | undefined
  /** What a name server is asked for a name, in this order, by the `search` and `ndots` of resolv.conf(5). */
  candidatesOf(host: string): readonly string[]
  /** The name servers of resolv.conf(5). Undefined: it cannot be read. */
  servers(): readonly string[] | undefined
}

const maxDomains = 6
const maxServers = 3

/**
 * Reads names from files, again when a file has changed. A file that cannot be read contains nothing.
 *
 * The calls are synchronous. Others would occupy the thread pool, and these files are small.
 */
export const createNameFiles = (hostsPath: string, configPath: string): NameFiles => {
  const hosts = createFileReader(hostsPath, readHosts)
  const config = createFileReader(configPath, readConfig)
  return {
    addressesOf: (name) => hosts()?.get(name),
    servers: () => config()?.servers,
    candidatesOf(host) {
      const search = config()
      if (search === undefined || host.endsWith('.')) return [host]
      const inDomains = search.domains.map((domain) => `${host}.${domain}.`)
      const dots = host.split('.').length - 1
      return dots >= search.ndots ? [`${host}.`, ...inDomains] : [...inDomains, `${host}.`]
    },
  }
}

const createFileReader = <Value>(path: string, read: (text: string) => Value): (() => Value | undefined) => {
  let last: { readonly version: string; readonly value: Value } | undefined
  return () => {
    try {
      const { ino, size, mtimeMs } = statSync(path)
      const version = `${ino} ${size} ${mtimeMs}`
      if (last?.version !== version) last = { version, value: read(readFileSync(path, 'utf8')) }
      return last.value
    } catch {
      return undefined
    }
  }
}

const readHosts = (text: string): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '')
      const addresses = found.get(key)
      if (addresses) addresses.push(address)
      else found.set(key, [address])
    }
  }
  return found
}

interface NameConfig {
  readonly domains: readonly string[]
  readonly ndots: number
  readonly servers: readonly string[]
}

const readConfig = (text: string): NameConfig => {
  const servers: string[] = []
  let domains: readonly string[] = []
  let ndots = 1
  for (const line of text.split('\n')) {
    const [key, ...values] = wordsOf(line)
    if (key === 'nameserver' && isIP(values[0] ?? '') !== 0) servers.push(...values.slice(0, 1))
    if (key === 'search' || key === 'domain') domains = values.map((value) => value.replace(/\.$/, '')).filter(Boolean)
    if (key === 'options') ndots = Number(/^ndots:(\d+)$/m.exec(values.join('\n'))?.[1] ?? ndots)
  }
  return {
    domains: domains.slice(0, maxDomains),
    ndots: Math.min(ndots, 15),
    // Without one: resolv.conf(5).
    servers: servers.length === 0 ? ['127.0.0.1'] : servers.slice(0, maxServers),
  }
}

const wordsOf = (line: string): readonly string[] =>
  line
    .replace(/[#;].*/, '')
    .trim()
    .split(/\s+/)
