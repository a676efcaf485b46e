import { Problem } from './problem.ts'

/** Who is calling. */
export interface Identity {
  /** Isolation is per user (reading 1). */
  readonly user: string
  /** Id of the credential, where one user may have several. */
  readonly token?: string
}

/** Says who is calling; undefined when nobody that is known. A host app hands over its own. */
export type Identify = (request: Request) => Identity | undefined | Promise<Identity | undefined>

/** The identity, or Problem 401: one answer for every reason, so that nothing can be learned from it. */
export const requireIdentity = async (identify: Identify, request: Request): Promise<Identity> => {
  const identity = await identify(request)
  if (!identity) throw new Problem(401, 'not authenticated', { headers: { 'www-authenticate': 'Bearer' } })
  return identity
}
