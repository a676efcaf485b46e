import type { S3StorageOptions } from '../../plugins/file-storage/index.ts'
import { key, printableForm, seconds, secondsAbove0 } from './environment/parsers.ts'
import type { Environment, Read } from './environment/reader.ts'

/** Where uploads and results lie. */
export type StorageConfig =
  | { readonly kind: 'folder'; readonly path: string }
  | ({ readonly kind: 's3' } & Omit<S3StorageOptions, 'fetch'>)

/** Reads `STORAGE_URL`, its credentials and its time limit. Undefined: there is no storage. */
export const readStorage = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
): StorageConfig | undefined => {
  const url = read('STORAGE_URL', storageForm, storageUrl) ?? { kind: 'folder', path: 'data/storage' }
  const timeoutMs = read('STORAGE_TIMEOUT_SECONDS', secondsAbove0, seconds(1)) ?? 80_000
  const required = (name: string): string => {
    if (!env[name]) addProblem(`${name} is required for a STORAGE_URL of S3`)
    return read(name, printableForm, key) ?? ''
  }
  if (url.kind === 'none') return undefined
  if (url.kind === 'folder') return url
  const keys = { accessKey: required('STORAGE_ACCESS_KEY'), secretKey: required('STORAGE_SECRET_KEY') }
  return { ...url, ...keys, timeoutMs }
}

const storageForm =
  'must be file:PATH, none, or s3://BUCKET/PREFIX with the parameters endpoint, region and style (path or host)'

type StorageUrl =
  | { readonly kind: 'none' }
  | { readonly kind: 'folder'; readonly path: string }
  | ({ readonly kind: 's3' } & Omit<S3StorageOptions, 'accessKey' | 'secretKey' | 'timeoutMs' | 'fetch'>)

const storageUrl = (text: string): StorageUrl | undefined => {
  if (text === 'none') return { kind: 'none' }
  const path = /^file:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1]
  if (path !== undefined) return { kind: 'folder', path }
  // Not `URL`, which reads some names of buckets as numbers of an address.
  const [, bucket = '', prefix = '', query = ''] = /^s3:\/\/([\w.-]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text) ?? []
  const parameters = new URLSearchParams(query)
  const { endpoint, region, style, ...others } = Object.fromEntries(parameters)
  const isValid =
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(bucket) &&
    /^(?:[\w.!'()*-]+\/)*[\w.!'()*-]*$/.test(prefix) &&
    Object.keys(others).length === 0 &&
    (region === undefined || /^[\w-]+$/.test(region)) &&
    (style === undefined || style === 'path' || style === 'host') &&
    (endpoint === undefined || isOrigin(endpoint))
  if (!isValid) return undefined
  return {
    kind: 's3',
    bucket,
    ...(prefix !== '' && { prefix: prefix.endsWith('/') ? prefix : `${prefix}/` }),
    ...(endpoint !== undefined && { endpoint: new URL(endpoint).origin }),
    ...(region !== undefined && { region }),
    ...(style !== undefined && { style }),
  }
}

/** The address of a service without a path, which the client would leave out of the signature. */
const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(text)
}

/** The credentials of a storage. No log line may contain one. */
export const storageSecrets = (storage: StorageConfig | undefined): readonly string[] =>
  storage?.kind === 's3' ? [storage.accessKey, storage.secretKey] : []
