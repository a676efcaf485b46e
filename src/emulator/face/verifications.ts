import { createHmac } from 'node:crypto'
import type { Library } from '../library.ts'
import type { Settings } from '../settings.ts'
import { compactTime } from '../times.ts'
import { H5_CALLBACK } from './paths.ts'
import type { FaceSession, Sessions } from './sessions.ts'

/** The six states that a service shows which runs them itself. */
export type Status = 'waiting_user' | 'callback_received' | 'resolving' | 'verified' | 'failed' | 'expired'

/** A task of the rest shape, as it stands at the moment of looking. */
export interface Verification {
  readonly id: string
  readonly status: Status
  readonly session: FaceSession
}

interface Task {
  readonly id: string
  readonly bytedToken: string
  /** of the first word that a browser brought back */
  readonly heard?: { readonly at: number; readonly good: boolean }
}

/** The tasks of the rest shape, each upon a session. */
export interface Verifications {
  begin(project: string): Verification
  find(id: string): Verification | undefined
  /** A browser has come back. Only the first word counts, in time, with the right token; undefined when it is about no task. */
  hear(state: string, query: URLSearchParams): Verification | undefined
}

/** `base`: where browsers reach the emulator. */
export function createVerifications(
  settings: Settings,
  library: Library,
  sessions: Sessions,
  base: () => string,
): Verifications {
  const tasks = new Map<string, Task>()
  const ids = new Map<string, string>()

  function begin(project: string): Verification {
    const now = library.now()
    const secret = (label: string) => createHmac('sha256', settings.secretKey).update(`${label} ${tasks.size} ${now}`)
    const id = `verification-${compactTime(now)}-${secret('verification').digest('hex').slice(0, 16)}`
    const state = secret('state').digest('base64url')
    const callbackUrl = `${base()}${H5_CALLBACK}${state}`
    const { bytedToken } = sessions.begin({ callbackUrl, project, verificationId: id })
    tasks.set(id, { id, bytedToken })
    ids.set(state, id)
    return found(id)
  }

  function find(id: string): Verification | undefined {
    return tasks.has(id) ? found(id) : undefined
  }

  function found(id: string): Verification {
    const task = tasks.get(id)
    const session = task && sessions.find(task.bytedToken)
    if (session === undefined) throw new Error(`there is no verification ${id}`)
    return { id, session, status: statusOf(session, task?.heard, library.now(), settings.faceResolvingMs) }
  }

  function hear(state: string, query: URLSearchParams): Verification | undefined {
    const task = tasks.get(ids.get(state) ?? '')
    const code = query.get('resultCode')
    if (task === undefined || !code || query.get('bytedToken') !== task.bytedToken) return undefined
    if (found(task.id).status === 'waiting_user') {
      tasks.set(task.id, { ...task, heard: { at: library.now(), good: code === '10000' } })
    }
    return found(task.id)
  }

  return { begin, find, hear }
}

/** A forged word leads to `resolving` and no further: `verified` takes a group, and a group takes a person. */
function statusOf(session: FaceSession, heard: Task['heard'], now: number, resolvingMs: number): Status {
  const { groupId, expireTime } = session
  if (heard === undefined) return now < expireTime ? 'waiting_user' : 'expired'
  const resultTime = heard.at + resolvingMs
  const known = now >= resultTime && resultTime < expireTime
  if (known && !heard.good) return 'failed'
  if (known && groupId !== undefined) return 'verified'
  if (now >= expireTime) return 'expired'
  return now < heard.at + resolvingMs / 2 ? 'callback_received' : 'resolving'
}
