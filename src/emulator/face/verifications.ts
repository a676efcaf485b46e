import { createHmac } from 'node:crypto'
import type { Library } from '../library/library.ts'
import type { Settings } from '../options.ts'
import { compactTime } from '../shared/times.ts'
import { h5Callback } from './link.ts'
import { createSessions, type FaceSession, type Sessions } from './sessions.ts'

/** The six states of a verification task in the `rest` API. */
export type Status = 'waiting_user' | 'callback_received' | 'resolving' | 'verified' | 'failed' | 'expired'

/** A snapshot of a verification task of the `rest` API. */
export interface Verification {
  readonly id: string
  readonly status: Status
  readonly session: FaceSession
}

interface Task {
  readonly id: string
  readonly bytedToken: string
  /** the first callback that a browser delivered */
  readonly callback?: { readonly at: number; readonly success: boolean }
}

/** The verification tasks of the `rest` API. Each task has one session. */
interface Verifications {
  create(project: string): Verification
  find(id: string): Verification | undefined
  /** Handles a callback. Only the first one in time and with the right token counts; undefined when no task matches. */
  receiveCallback(state: string, query: URLSearchParams): Verification | undefined
}

/** Creates an empty set of tasks. `base` returns the base URL for browsers. */
const createVerifications = (
  settings: Settings,
  library: Library,
  sessions: Sessions,
  base: () => string,
): Verifications => {
  const tasks = new Map<string, Task>()
  const ids = new Map<string, string>()

  const create = (project: string): Verification => {
    const now = library.now()
    const secret = (label: string) => createHmac('sha256', settings.secretKey).update(`${label} ${tasks.size} ${now}`)
    const id = `verification-${compactTime(now)}-${secret('verification').digest('hex').slice(0, 16)}`
    const state = secret('state').digest('base64url')
    const callbackUrl = `${base()}${h5Callback}${state}`
    const { bytedToken } = sessions.create({ callbackUrl, project, verificationId: id })
    tasks.set(id, { id, bytedToken })
    ids.set(state, id)
    return found(id)
  }

  const find = (id: string): Verification | undefined => (tasks.has(id) ? found(id) : undefined)

  const found = (id: string): Verification => {
    const task = tasks.get(id)
    const session = task && sessions.find(task.bytedToken)
    if (session === undefined) throw new Error(`there is no verification ${id}`)
    return { id, session, status: statusOf(session, task?.callback, library.now(), settings.faceResolvingMs) }
  }

  const receiveCallback = (state: string, query: URLSearchParams): Verification | undefined => {
    const task = tasks.get(ids.get(state) ?? '')
    const code = query.get('resultCode')
    if (task === undefined || !code || query.get('bytedToken') !== task.bytedToken) return undefined
    if (found(task.id).status === 'waiting_user') {
      tasks.set(task.id, { ...task, callback: { at: library.now(), success: code === '10000' } })
    }
    return found(task.id)
  }

  return { create, find, receiveCallback }
}

/**
 * The status of a task. A forged callback leads to `resolving` only: `verified` needs a group, which only the check
 * page creates.
 */
const statusOf = (session: FaceSession, callback: Task['callback'], now: number, resolvingMs: number): Status => {
  const { groupId, expireTime } = session
  if (callback === undefined) return now < expireTime ? 'waiting_user' : 'expired'
  const resultTime = callback.at + resolvingMs
  const known = now >= resultTime && resultTime < expireTime
  if (known && !callback.success) return 'failed'
  if (known && groupId !== undefined) return 'verified'
  if (now >= expireTime) return 'expired'
  return now < callback.at + resolvingMs / 2 ? 'callback_received' : 'resolving'
}

/** The face verification state of an account. */
export interface FaceService {
  readonly sessions: Sessions
  readonly verifications: Verifications
  /** the URL that the user opens in a browser */
  linkOf(session: FaceSession): string
}

/**
 * Creates an empty state. `origin` returns the emulator's base URL, which is known only after it has started to listen.
 */
export const createFaces = (settings: Settings, library: Library, origin: () => string): FaceService => {
  const base = () => (settings.faceUrl || origin()).replace(/\/+$/, '')
  const sessions = createSessions(settings, library)
  const verifications = createVerifications(settings, library, sessions, base)
  return { sessions, verifications, linkOf: ({ h5 }) => base() + h5 }
}
