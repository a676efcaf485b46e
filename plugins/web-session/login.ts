import { readJsonRequest } from '../shared/http/body/body.ts'
import type { QueueFlow } from '../shared/login/login-queue.ts'
import { Problem } from '../shared/problem.ts'
import { storeCall } from '../shared/store-call.ts'
import { sessionNotChecked } from './session.ts'
import type { LoginUser, SessionStore } from './store.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

/** For a service that is configured so. */
export const noPasswordLogin = new Problem(403, 'users do not log in with a password here')

const maxBodyBytes = 8_192
export const maxPasswordBytes = 1_024

/**
 * Reads the body `{"name","password"}`. Throws Problem 415 for another content type, 413 above 8 KiB, 400 for any other
 * body.
 */
export const readCredentials = async (request: Request): Promise<Credentials> => {
  const { json } = await readJsonRequest(request, maxBodyBytes)
  const name = json.get('name')?.string()
  const password = json.get('password')?.string()
  if (name === undefined || password === undefined) throw new Problem(400, 'name and password must be strings')
  if (Buffer.byteLength(password) > maxPasswordBytes) {
    throw new Problem(400, `password must be at most ${maxPasswordBytes} bytes`)
  }
  return { name, password }
}

/**
 * Whether a hash is that of the password. For an undefined hash it returns false after the same time.
 *
 * `flow` identifies the caller to a fair queue, for an implementation that limits concurrent checks.
 */
export type Verify = (password: string, hash: string | undefined, flow: QueueFlow) => Promise<boolean>

/**
 * The user with that name and password. Undefined for a wrong password, an unknown name, a disabled user, and a user
 * without a password. These four cases do the same work, so the time does not tell them apart.
 */
export const findUser = async (
  { name, password }: Credentials,
  store: Pick<SessionStore, 'userByName'>,
  verify: Verify,
  flow: QueueFlow,
): Promise<(LoginUser & { readonly password: string }) | undefined> => {
  const user = isStorable(name) ? await storeCall(store.userByName(name), sessionNotChecked) : undefined
  const hash = user?.disabledAt === undefined ? user?.password : undefined
  const matches = await verify(password, hash, flow)
  return matches && user && hash !== undefined ? { ...user, password: hash } : undefined
}

/** Whether a database can store the text unchanged. No user can have another name. */
const isStorable = (name: string): boolean => name.isWellFormed() && !name.includes('\0')
