import type { Identify } from '../../plugins/ownership/index.ts'
import type { UserOf } from '../../plugins/upstream-proxy/index.ts'

export interface Askers {
  readonly identify: Identify
  readonly userOf: UserOf
  /** Keeps what somebody else has found out. */
  remember(request: Request, user: string): void
}

/** The same `identify`, and who it has said a request is from: for whatever is handed nothing but the request. */
export const rememberAskers = (identify: Identify): Askers => {
  const users = new WeakMap<Request, string>()
  return {
    async identify(request) {
      const identity = await identify(request)
      if (identity) users.set(request, identity.user)
      return identity
    },
    userOf: (request) => users.get(request),
    remember(request, user) {
      users.set(request, user)
    },
  }
}
