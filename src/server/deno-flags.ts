import { dirname } from 'node:path'
import { addressOfAws } from '../../plugins/file-storage/storage/s3-storage.ts'
import type { Config } from '../config.ts'
import { databaseKindOf } from '../store/database/kinds.ts'

/** The part of `Deno.permissions` that this file uses: https://docs.deno.com/api/deno/~/Deno.Permissions */
export interface DenoPermissions {
  querySync(descriptor: Readonly<Record<string, string>>): {
    readonly state: string
    /** Whether a part of what the descriptor names is denied. */
    readonly partial: boolean
  }
}

/**
 * The flags that give a worker the permissions of this process, and never more.
 *
 * Deno gives a process that another one starts no permissions of it, and does not say which flags it has itself. So
 * this asks for each permission as a whole, and otherwise for each value that a server with this configuration uses.
 * The permission to start processes is not passed on: only the supervisor uses it.
 */
export const workerFlags = (config: Config, permissions: DenoPermissions): readonly string[] => {
  const hosts = [`${bracketed(config.http.host)}:${config.http.port}`, ...hostsIn(config), ...hostsOfStorage(config)]
  const databaseFile = databaseKindOf(config.store.url)?.fileOf(config.store.url)
  // SQLite writes further files next to the database.
  const folders = databaseFile === undefined ? [] : [dirname(databaseFile)]
  if (config.storage?.kind === 'folder') folders.push(config.storage.path)

  const isGranted = (descriptor: Readonly<Record<string, string>>): boolean => {
    const { state, partial } = permissions.querySync(descriptor)
    return state === 'granted' && !partial
  }
  const flags = (name: string, key: string, values: readonly string[]): readonly string[] => {
    if (isGranted({ name })) return [`--allow-${name}`]
    // In a flag, a comma would separate two values.
    const granted = values.filter((value) => !value.includes(',') && isGranted({ name, [key]: value }))
    return granted.length === 0 ? [] : [`--allow-${name}=${[...new Set(granted)].join(',')}`]
  }
  return [
    // A worker gets the whole environment, so the supervisor has the permission to read it.
    ...flags('env', 'variable', []),
    ...flags('sys', 'kind', ['hostname']),
    ...flags('net', 'host', hosts),
    // The last two are for the names in the addresses of webhooks.
    ...flags('read', 'path', [...folders, ...config.files, '/etc/resolv.conf', '/etc/hosts']),
    ...flags('write', 'path', folders),
  ]
}

/** Without an `endpoint`, the client makes the address itself: https://docs.aws.amazon.com/general/latest/gr/s3.html */
const hostsOfStorage = ({ storage }: Config): readonly string[] => {
  if (storage?.kind !== 's3' || storage.endpoint !== undefined) return []
  const { bucket, region = 'us-east-1', style } = storage
  const { host } = new URL(addressOfAws(region))
  return [`${style === 'path' ? '' : `${bucket}.`}${host}:443`]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
const postgresPort = 5432

/** `HOST:PORT` of every URL in a value. */
const hostsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(hostsIn)
  const url = typeof value === 'string' && /^[a-z]+:\/\//.test(value) ? URL.parse(value) : undefined
  if (!url) return []
  return [`${url.hostname}:${url.port || (defaultPorts[url.protocol] ?? postgresPort)}`]
}
