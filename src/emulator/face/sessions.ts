import type { Library } from '../library/library.ts'
import type { Settings } from '../options.ts'
import { compactTime } from '../shared/times.ts'
import { callbackOf, createLink } from './link.ts'

/** The user's choices on the check page. */
export const decisions = ['succeed', 'fail', 'close'] as const
export type Decision = (typeof decisions)[number]

/** A snapshot of a face check. TimeFormat are in ms since 1970. */
export interface FaceSession {
  readonly bytedToken: string
  /** path and query of the H5 page */
  readonly h5: string
  /** URL to which the browser is redirected after the check */
  readonly callbackUrl: string
  /** `expired`: the user did not finish the check in time */
  readonly state: 'waiting' | 'succeeded' | 'failed' | 'closed' | 'expired'
  /** id of the LivenessFace group; present once the check has succeeded */
  readonly groupId?: string
  /** `rest`: id of the task to which the session belongs */
  readonly verificationId?: string
  readonly project: string
  readonly createTime: number
  readonly expireTime: number
  readonly endTime?: number
}

/** The values of a new session. */
export type NewSession = Pick<FaceSession, 'callbackUrl' | 'project' | 'verificationId'>

/** The result of an attempt to finish a session: the redirect URL, or the reason why there is none. */
export type Finish =
  | { readonly outcome: 'callback'; readonly url: string }
  | { readonly outcome: 'closed' | 'used' | 'expired' | 'unknown' }

/** The face check sessions of the account. */
export interface Sessions {
  create(session: NewSession): FaceSession
  /** oldest first */
  list(): FaceSession[]
  find(bytedToken: string): FaceSession | undefined
  /** Ends a session that is still waiting and not expired. `succeed` creates the group at once. */
  finish(bytedToken: string, decision: Decision): Finish
}

const endStates = { succeed: 'succeeded', fail: 'failed', close: 'closed' } as const

export const createSessions = (settings: Settings, library: Library): Sessions => {
  const sessions = new Map<string, FaceSession>()

  const create = (given: NewSession): FaceSession => {
    const createTime = library.now()
    const { bytedToken, path: h5 } = createLink(sessions.size, createTime, settings)
    const expireTime = createTime + settings.faceSessionMs
    const session: FaceSession = { ...given, bytedToken, h5, state: 'waiting', createTime, expireTime }
    sessions.set(bytedToken, session)
    return session
  }

  const find = (bytedToken: string): FaceSession | undefined => {
    const session = sessions.get(bytedToken)
    const expired = session?.state === 'waiting' && library.now() >= session.expireTime
    return expired ? { ...session, state: 'expired' } : session
  }

  const finish = (bytedToken: string, decision: Decision): Finish => {
    const session = find(bytedToken)
    if (session === undefined) return { outcome: 'unknown' }
    if (session.state === 'expired') return { outcome: 'expired' }
    if (session.state !== 'waiting') return { outcome: 'used' }
    const endTime = library.now()
    const group = decision === 'succeed' && library.addGroup({ ...faceGroup(endTime), project: session.project })
    const ended: FaceSession = { ...session, state: endStates[decision], endTime, ...(group && { groupId: group.id }) }
    sessions.set(bytedToken, ended)
    if (decision === 'close') return { outcome: 'closed' }
    return { outcome: 'callback', url: callbackOf(session.callbackUrl, bytedToken, decision === 'succeed') }
  }

  return { create, list: () => [...sessions.keys()].flatMap((token) => find(token) ?? []), find, finish }
}

/** The group of a verified face. The user cannot choose its name. */
const faceGroup = (now: number) => ({ name: `LivenessFace-${compactTime(now)}`, type: 'LivenessFace' }) as const
