import * as crypto from 'node:crypto'
import { LoginQueue, type QueueFlow } from '../shared/login/login-queue.ts'

/**
 * Hashes a password with Argon2id (RFC 9106), in PHC string format. 19 MiB, 2 passes, 1 lane: the minimum that OWASP
 * recommends.
 *
 * Every runtime computes the same hash. Throws TypeError for an empty password, and Problem 503 when too many hashes
 * are being computed. It accepts any other password: `passwordProblem` says whether one is good enough.
 *
 * @param flow the caller, for the fair queue of waiting computations
 * @example
 * const hash = await hashPassword('correct horse battery staple')
 * const isRight = await verifyPassword('correct horse battery staple', hash)
 */
export const hashPassword = async (password: string, flow: QueueFlow = { name: '' }): Promise<string> => {
  if (password === '') throw new TypeError('a password must not be empty')
  const salt = crypto.randomBytes(16)
  const derive = await loadDerive()
  return format(defaultCost, salt, await queue.run(flow, () => derive(defaultCost, normalize(password), salt, 32)))
}

/**
 * Whether a hash is that of the password. False for a malformed hash. For an undefined hash (an unknown user) it
 * returns false after the same time.
 *
 * Throws Problem 503 when too many hashes are being computed.
 *
 * @param flow the caller, for the fair queue of waiting computations
 */
export const verifyPassword = async (
  password: string,
  hash: string | undefined,
  flow: QueueFlow = { name: '' },
): Promise<boolean> => {
  const expected = parse(hash ?? unknownUserHash)
  if (!expected || password === '') return false
  const derive = await loadDerive()
  const computed = await queue.run(flow, () =>
    derive(expected.cost, normalize(password), expected.salt, expected.key.length).catch(() => undefined),
  )
  return computed !== undefined && crypto.timingSafeEqual(computed, expected.key) && hash !== undefined
}

/** Cost parameters of Argon2id. Memory in KiB. */
interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

const defaultCost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }

interface Hash {
  readonly cost: Cost
  readonly salt: Buffer
  readonly key: Buffer
}

const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

const parse = (hash: string): Hash | undefined => {
  const [, memory, passes, parallelism, salt = '', key = ''] = phc.exec(hash) ?? []
  if (memory === undefined) return undefined
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  }
}

const format = ({ memory, passes, parallelism }: Cost, salt: Buffer, key: Buffer): string =>
  `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(key)}`

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** `argon2` of `node:crypto` (Node 24.7). Bun has it, Deno does not, and the type declarations lack it. */
type Argon2 = (
  algorithm: 'argon2id',
  options: Cost & { message: string; nonce: Buffer; tagLength: number },
  done: (error: Error | null, key: Buffer) => void,
) => void
const argon2 = Reflect.get(crypto, 'argon2') as Argon2 | undefined

/** Keyboards compose the same letters differently, so passwords are normalized (NIST SP 800-63B section 5.1.1.2). */
const normalize = (password: string): string => password.normalize('NFKC')

/** Computes a key. Rejects for invalid cost parameters. */
type Derive = (cost: Cost, message: string, nonce: Buffer, tagLength: number) => Promise<Buffer>

/** The runtime's own Argon2, else the one of `@noble/hashes`, an optional peer dependency. */
const loadDerive = async (): Promise<Derive> => {
  if (argon2) return deriveNatively
  const { argon2idAsync } = await import('@noble/hashes/argon2.js').catch((cause: unknown) => {
    throw new Error('this runtime has no Argon2: add the package @noble/hashes to your project', { cause })
  })
  return async (cost, message, nonce, dkLen) => {
    const { memory: m, passes: t, parallelism: p } = cost
    return Buffer.from(await argon2idAsync(message, nonce, { m, t, p, dkLen, asyncTick }))
  }
}

const deriveNatively: Derive = (cost, message, nonce, tagLength) =>
  new Promise((resolve, reject) => {
    argon2?.('argon2id', { message, nonce, tagLength, ...cost }, (error, key) => (error ? reject(error) : resolve(key)))
  })

/**
 * Milliseconds after which `@noble/hashes`, which computes on the thread that handles requests, lets the event loop
 * turn. While requests arrive, Deno (2.9) looks for I/O in some of the turns only.
 */
const asyncTick = 2

/**
 * One hash takes a tenth of a second of CPU, and 19 MiB. Without a limit, logins would be a denial-of-service attack.
 * On the thread that handles requests, two at once would end no sooner, and a turn of the event loop would have a step
 * of each.
 */
const queue = new LoginQueue({
  atOnce: argon2 ? 2 : 1,
  maxWaiting: 32,
  message: 'too many passwords are being checked',
})

/** A hash that no password matches, to spend the same time on unknown users. */
const unknownUserHash = format(defaultCost, Buffer.alloc(16), Buffer.alloc(32))
