import * as crypto from 'node:crypto'
import { Problem } from '../shared/problem.ts'

/**
 * The hash of a password, in PHC string format: Argon2id (19 MiB, 2 passes, 1 lane) where the runtime has it, as Bun does, else scrypt (N 2^17, r 8, p 1).
 *
 * Throws TypeError for an empty password, Problem 503 when too many are being computed.
 */
export const hashPassword = async (password: string): Promise<string> => {
  if (password === '') throw new TypeError('a password must not be empty')
  const salt = crypto.randomBytes(16)
  const parameters = argon2 ? argon2Default : scryptDefault
  return write(parameters, salt, await oneOfFew(() => derive(parameters, password, salt, 32)))
}

/**
 * Whether a hash is that of the password. False also for a hash that is not formed like one, or of a kind that this runtime cannot compute. Undefined
 * is the hash of a user who does not exist: false, after the same time.
 *
 * Throws Problem 503 when too many are being computed.
 */
export const verifyPassword = async (password: string, hash: string | undefined): Promise<boolean> => {
  const known = read(hash ?? (argon2 ? unknownUser.argon2 : unknownUser.scrypt))
  if (!known || password === '') return false
  const computed = await oneOfFew(() => derive(known.parameters, password, known.salt, known.key.length))
  return computed !== undefined && crypto.timingSafeEqual(computed, known.key) && hash !== undefined
}

type Parameters =
  | { readonly kind: 'argon2id'; readonly memory: number; readonly passes: number; readonly parallelism: number }
  | { readonly kind: 'scrypt'; readonly ln: number; readonly r: number; readonly p: number }

const argon2Default: Parameters = { kind: 'argon2id', memory: 19_456, passes: 2, parallelism: 1 }
const scryptDefault: Parameters = { kind: 'scrypt', ln: 17, r: 8, p: 1 }

interface Hash {
  readonly parameters: Parameters
  readonly salt: Buffer
  readonly key: Buffer
}

const phc = {
  argon2id: /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/,
  scrypt: /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/,
}

const read = (hash: string): Hash | undefined => {
  const [, memory, passes, parallelism, ...argon2Rest] = phc.argon2id.exec(hash) ?? []
  const [, ln, r, p, ...scryptRest] = phc.scrypt.exec(hash) ?? []
  const [salt = '', key = ''] = memory === undefined ? scryptRest : argon2Rest
  const parameters: Parameters | undefined =
    memory !== undefined
      ? { kind: 'argon2id', memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
      : ln !== undefined
        ? { kind: 'scrypt', ln: Number(ln), r: Number(r), p: Number(p) }
        : undefined
  if (!parameters) return undefined
  return { parameters, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') }
}

const write = (parameters: Parameters, salt: Buffer, key: Buffer | undefined): string => {
  if (!key) throw new Error('the password could not be hashed')
  const form =
    parameters.kind === 'argon2id'
      ? `$argon2id$v=19$m=${parameters.memory},t=${parameters.passes},p=${parameters.parallelism}`
      : `$scrypt$ln=${parameters.ln},r=${parameters.r},p=${parameters.p}`
  return `${form}$${unpadded(salt)}$${unpadded(key)}`
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

/** Node's interface (24.7), which Bun has and Deno has not; the types know neither. */
type Argon2 = (
  algorithm: 'argon2id',
  options: {
    message: string
    nonce: Buffer
    memory: number
    passes: number
    parallelism: number
    tagLength: number
  },
  done: (error: Error | null, key: Buffer) => void,
) => void
const argon2 = Reflect.get(crypto, 'argon2') as Argon2 | undefined

/** Undefined when the runtime cannot compute it. */
const derive = (parameters: Parameters, password: string, salt: Buffer, length: number): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const done = (error: Error | null, key: Buffer) => resolve(error ? undefined : key)
    // One password, however a keyboard composes its letters (NIST SP 800-63B section 5.1.1.2).
    const message = password.normalize('NFKC')
    try {
      if (parameters.kind === 'scrypt') {
        const { ln, r, p } = parameters
        crypto.scrypt(message, salt, length, { N: 2 ** ln, r, p, maxmem: 2 ** 28 }, done)
      } else if (argon2) {
        const { kind, ...rest } = parameters
        argon2(kind, { message, nonce: salt, tagLength: length, ...rest }, done)
      } else {
        resolve(undefined)
      }
    } catch {
      resolve(undefined)
    }
  })

const atOnce = 2
const mostWaiting = 32
const waiting: (() => void)[] = []
let running = 0

/** Each takes a tenth of a second of a processor and much memory: without a bound, logging in is an attack. */
const oneOfFew = async <Result>(compute: () => Promise<Result>): Promise<Result> => {
  if (running >= atOnce) {
    if (waiting.length >= mostWaiting) {
      throw new Problem(503, 'too many passwords are being checked', { headers: { 'retry-after': '1' } })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else {
    running++
  }
  try {
    return await compute()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** Hashes of nobody's password. */
const unknownUser = {
  argon2: write(argon2Default, Buffer.alloc(16), Buffer.alloc(32)),
  scrypt: write(scryptDefault, Buffer.alloc(16), Buffer.alloc(32)),
}
