import {
  address,
  hostName,
  integer,
  networks,
  oneOf,
  origins,
  seconds,
  secondsFrom0,
  webAddress,
} from './environment/parsers.ts'
import type { Read } from './environment/reader.ts'

/** How the server listens. Times are milliseconds. */
export interface HttpConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Address that browsers use, without a trailing slash. Undefined: `http://HOST:PORT`. */
  readonly publicUrl?: string
  /** Whether the server reads bodies of GET requests. */
  readonly getBodies: boolean
  /** Maximum body size of text generation. */
  readonly maxBodyBytes: number
  /** Maximum body size of video generation; at most `maxBodyBytes`. */
  readonly maxVideoBodyBytes: number
  /** Maximum body size of every other route; at most `maxBodyBytes`. */
  readonly maxSmallBodyBytes: number
  /** How long the server still accepts connections after it was told to stop. */
  readonly drainGraceMs: number
  readonly drainMs: number
  readonly workers: number
  /** Addresses and networks whose `X-Forwarded-For` header is trusted. */
  readonly trustedProxies: readonly string[]
  /** Origins whose pages may call text generation and the asset library with a token. */
  readonly corsOrigins: readonly string[]
}

/** Reads `WORKERS`. `isShareable`: whether several processes can have the database. */
export const readWorkers = (read: Read, addProblem: (problem: string) => void, isShareable: boolean): number => {
  const workers = read('WORKERS', 'must be an integer from 1 to 256', integer(1, 256)) ?? 1
  if (workers > 1 && !isShareable)
    addProblem('WORKERS above 1 needs a DATABASE_URL that processes can share: a file or a database server')
  return workers
}

export const readHttpConfig = (read: Read, addProblem: (problem: string) => void, workers: number): HttpConfig => {
  const maxBodyBytes = read('MAX_BODY_BYTES', bytesForm, bytes) ?? 67_108_864
  const maxVideoBodyBytes = read('MAX_VIDEO_BODY_BYTES', bytesForm, bytes) ?? Math.min(50_331_648, maxBodyBytes)
  if (maxVideoBodyBytes > maxBodyBytes) addProblem('MAX_VIDEO_BODY_BYTES must not be above MAX_BODY_BYTES')
  const maxSmallBodyBytes = read('MAX_SMALL_BODY_BYTES', bytesForm, bytes) ?? Math.min(1_048_576, maxBodyBytes)
  if (maxSmallBodyBytes > maxBodyBytes) addProblem('MAX_SMALL_BODY_BYTES must not be above MAX_BODY_BYTES')
  return {
    host: read('HOST', 'must be a host name or an address', hostName) ?? '127.0.0.1',
    port: read('PORT', 'must be an integer from 0 to 65535', integer(0, 65_535)) ?? 3_000,
    publicUrl: read('PUBLIC_URL', webAddress, address),
    getBodies: (read('GET_BODIES', 'must be on or off', oneOf(['on', 'off'])) ?? 'on') === 'on',
    ...{ maxBodyBytes, maxVideoBodyBytes, maxSmallBodyBytes, workers },
    drainGraceMs: read('DRAIN_GRACE_SECONDS', secondsFrom0, seconds(0)) ?? 5_000,
    drainMs: read('DRAIN_SECONDS', secondsFrom0, seconds(0)) ?? 210_000,
    corsOrigins:
      read('CORS_ORIGINS', 'must be origins such as https://app.example, separated by commas', origins) ?? [],
    trustedProxies: read('TRUSTED_PROXIES', 'must be addresses or networks, separated by commas', networks) ?? [],
  }
}

const bytesForm = 'must be an integer from 1 to 2147483647'
const bytes = integer(1, 2_147_483_647)
