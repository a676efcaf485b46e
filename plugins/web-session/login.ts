import { isJson, readJsonBody } from '../shared/body.ts'
import { Problem } from '../shared/problem.ts'
import type { Flow } from './login-queue.ts'
import { fromStore } from './session.ts'
import type { LoginUser, SessionStore } from './store.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

const mostBodyBytes = 8_192
const mostPasswordBytes = 1_024

/** Reads `{"name","password"}`. Throws Problem 415 for another content type, 413 beyond 8 KiB, 400 for anything else that is not like that. */
export const readCredentials = async (request: Request): Promise<Credentials> => {
  if (!isJson(request.headers)) throw new Problem(415, 'content type must be application/json')
  const { json } = await readJsonBody(request, mostBodyBytes)
  const name = json.get('name')?.string()
  const password = json.get('password')?.string()
  if (name === undefined || password === undefined) throw new Problem(400, 'name and password must be strings')
  if (Buffer.byteLength(password) > mostPasswordBytes) {
    throw new Problem(400, `password must be at most ${mostPasswordBytes} bytes`)
  }
  return { name, password }
}

/** Whether a hash is that of the password. For no hash at all: false, after the same time. Of several flows that have to wait, none keeps another out. */
export type Verify = (password: string, hash: string | undefined, flow: Flow) => Promise<boolean>

/**
 * The user with that name and password; undefined for a wrong password, an unknown name, a disabled user and one without a password. The four do the same
 * and take the same time.
 */
export const findUser = async (
  { name, password }: Credentials,
  store: Pick<SessionStore, 'userByName'>,
  verify: Verify,
  flow: Flow,
): Promise<(LoginUser & { readonly password: string }) | undefined> => {
  const user = storable(name) ? await fromStore(store.userByName(name)) : undefined
  const hash = user?.disabledAt === undefined ? user?.password : undefined
  const right = await verify(password, hash, flow)
  return right && user && hash !== undefined ? { ...user, password: hash } : undefined
}

/** What no database keeps as it is, is nobody's name. */
const storable = (name: string): boolean => name.isWellFormed() && !name.includes('\0')
