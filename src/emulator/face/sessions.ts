import type { Library } from '../library.ts'
import type { Settings } from '../settings.ts'
import { compactTime } from '../times.ts'
import { callbackOf, createLink } from './link.ts'

/** How a check can end, by the person's own doing. */
export const DECISIONS = ['succeed', 'fail', 'close'] as const
export type Decision = (typeof DECISIONS)[number]

/** A face check, as it stands at the moment of looking. Times in ms since 1970. */
export interface FaceSession {
  readonly bytedToken: string
  /** path and query of the H5 page */
  readonly h5: string
  /** where the browser goes afterwards */
  readonly callbackUrl: string
  /** `expired` is one that nobody finished in time */
  readonly state: 'waiting' | 'succeeded' | 'failed' | 'closed' | 'expired'
  /** the LivenessFace group, once succeeded */
  readonly groupId?: string
  /** rest: the task that the session belongs to */
  readonly verificationId?: string
  readonly project: string
  readonly createTime: number
  readonly expireTime: number
  readonly endTime?: number
}

/** What to begin a session with. */
export type NewSession = Pick<FaceSession, 'callbackUrl' | 'project' | 'verificationId'>

/** What comes of an attempt to finish: the way back for the browser, or none. */
export type Finish =
  | { readonly came: 'callback'; readonly url: string }
  | { readonly came: 'closed' | 'used' | 'expired' | 'unknown' }

/** All sessions of the account. */
export interface Sessions {
  begin(session: NewSession): FaceSession
  /** oldest first */
  list(): FaceSession[]
  find(bytedToken: string): FaceSession | undefined
  /** Ends a session, once and in time. Succeeding makes the group at this very moment. */
  finish(bytedToken: string, decision: Decision): Finish
}

const ENDS = { succeed: 'succeeded', fail: 'failed', close: 'closed' } as const

export function createSessions(settings: Settings, library: Library): Sessions {
  const kept = new Map<string, FaceSession>()

  function begin(given: NewSession): FaceSession {
    const createTime = library.now()
    const { bytedToken, path: h5 } = createLink(kept.size, createTime, settings)
    const expireTime = createTime + settings.faceSessionMs
    const session: FaceSession = { ...given, bytedToken, h5, state: 'waiting', createTime, expireTime }
    kept.set(bytedToken, session)
    return session
  }

  function find(bytedToken: string): FaceSession | undefined {
    const session = kept.get(bytedToken)
    const over = session?.state === 'waiting' && library.now() >= session.expireTime
    return over ? { ...session, state: 'expired' } : session
  }

  function finish(bytedToken: string, decision: Decision): Finish {
    const session = find(bytedToken)
    if (session === undefined) return { came: 'unknown' }
    if (session.state === 'expired') return { came: 'expired' }
    if (session.state !== 'waiting') return { came: 'used' }
    const endTime = library.now()
    const group = decision === 'succeed' && library.addGroup({ ...faceGroup(endTime), project: session.project })
    const ended: FaceSession = { ...session, state: ENDS[decision], endTime, ...(group && { groupId: group.id }) }
    kept.set(bytedToken, ended)
    if (decision === 'close') return { came: 'closed' }
    return { came: 'callback', url: callbackOf(session.callbackUrl, bytedToken, decision === 'succeed') }
  }

  return { begin, list: () => [...kept.keys()].flatMap((token) => find(token) ?? []), find, finish }
}

/** One face, one group; nobody is asked for its name. */
function faceGroup(now: number) {
  return { name: `LivenessFace-${compactTime(now)}`, type: 'LivenessFace' } as const
}
