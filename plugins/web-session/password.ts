import * as crypto from 'node:crypto'
import { argon2idAsync } from '@noble/hashes/argon2.js'
import { type Flow, LoginQueue } from './login-queue.ts'

/**
 * The hash of a password, in PHC string format: Argon2id, 19 MiB, 2 passes, 1 lane (RFC 9106; OWASP's least). The same on every runtime, so that any of them can check
 * what another has made.
 *
 * Throws TypeError for an empty password, Problem 503 when too many are being computed.
 */
export const hashPassword = async (password: string): Promise<string> => {
  if (password === '') throw new TypeError('a password must not be empty')
  const salt = crypto.randomBytes(16)
  return write(usual, salt, await queue.run({ name: '' }, () => derive(usual, password, salt, 32)))
}

/**
 * Whether a hash is that of the password. False also for a hash that is not formed like one. Undefined is the hash of a user who does not exist: false, after the same
 * time.
 *
 * @param flow who has to wait when many are being computed: of several flows, none keeps another out
 *
 * Throws Problem 503 when too many are being computed.
 */
export const verifyPassword = async (
  password: string,
  hash: string | undefined,
  flow: Flow = { name: '' },
): Promise<boolean> => {
  const known = read(hash ?? unknownUser)
  if (!known || password === '') return false
  const computed = await queue.run(flow, () =>
    derive(known.cost, password, known.salt, known.key.length).catch(() => undefined),
  )
  return computed !== undefined && crypto.timingSafeEqual(computed, known.key) && hash !== undefined
}

/** What it costs: memory in KiB. */
interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

const usual: Cost = { memory: 19_456, passes: 2, parallelism: 1 }

interface Hash {
  readonly cost: Cost
  readonly salt: Buffer
  readonly key: Buffer
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

const read = (hash: string): Hash | undefined => {
  const [, memory, passes, parallelism, salt = '', key = ''] = phc.exec(hash) ?? []
  if (memory === undefined) return undefined
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  }
}

const write = ({ memory, passes, parallelism }: Cost, salt: Buffer, key: Buffer): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(key)}`

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** Node's interface (24.7), which Bun has and Deno has not; the types know neither. */
type Argon2 = (
  algorithm: 'argon2id',
  options: Cost & { message: string; nonce: Buffer; tagLength: number },
  done: (error: Error | null, key: Buffer) => void,
) => void
const argon2 = Reflect.get(crypto, 'argon2') as Argon2 | undefined

/** Rejects for costs that make no sense. */
const derive = async (cost: Cost, password: string, nonce: Buffer, tagLength: number): Promise<Buffer> => {
  // One password, however a keyboard composes its letters (NIST SP 800-63B section 5.1.1.2).
  const message = password.normalize('NFKC')
  if (argon2) {
    return new Promise((resolve, reject) => {
      argon2('argon2id', { message, nonce, tagLength, ...cost }, (error, key) => (error ? reject(error) : resolve(key)))
    })
  }
  const { memory: m, passes: t, parallelism: p } = cost
  return Buffer.from(await argon2idAsync(message, nonce, { m, t, p, dkLen: tagLength }))
}

/** Each takes a tenth of a second of a processor and much memory: without a bound, logging in is an attack. */
const queue = new LoginQueue({ atOnce: 2, mostWaiting: 32, message: 'too many passwords are being checked' })

/** Hash of nobody's password. */
const unknownUser = write(usual, Buffer.alloc(16), Buffer.alloc(32))
