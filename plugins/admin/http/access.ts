import type { Audit, AuditEvent } from '../../shared/audit.ts'
import { type PublicUrl, requireSameOrigin, safeMethods } from '../../shared/http/origin.ts'
import { type Identify, type Identity, requireIdentity } from '../../shared/identity/identify.ts'
import { Problem } from '../../shared/problem.ts'
import type { AdminActor } from '../operations/actor.ts'

/** What a route is about: `people` also takes tokens with the scope `provision`. */
export type Area = 'people' | 'operation'

/** The caller of a route. */
export interface Access {
  readonly actor: AdminActor
  readonly identity: Identity
}

export interface AccessOptions {
  readonly identify: Identify
  readonly publicUrl: PublicUrl
  readonly audit: Audit
}

/**
 * Creates the function that admits callers: a session of an admin, or a token of an admin with the scope `admin` (in
 * the area `people` also `provision`).
 *
 * It throws Problem 401 for a caller who is not known, and 403 for every other one, for all paths alike: neither tells
 * which routes there are. A request that a cookie authenticates and that changes something must come from a page of the
 * public address.
 */
export const createAccess =
  ({ identify, publicUrl, audit }: AccessOptions) =>
  async (request: Request, area: Area): Promise<Access> => {
    const identity = await requireIdentity(identify, request)
    const kind = kindOf(identity)
    if (kind === undefined || (kind === 'provision' && area !== 'people')) throw notAllowed()
    if (identity.token === undefined && !safeMethods.has(request.method)) requireSameOrigin(request, publicUrl)
    return { identity, actor: actorOf(kind, request, audit) }
  }

/** What is not said is not granted: without a role there is no admin, and without scopes no token of one. */
const kindOf = ({ role, token, scopes }: Identity): 'admin' | 'provision' | undefined => {
  if (role !== 'admin') return undefined
  if (token === undefined) return scopes === undefined || scopes.includes('admin') ? 'admin' : undefined
  if (scopes?.includes('admin')) return 'admin'
  return scopes?.includes('provision') ? 'provision' : undefined
}

const actorOf = (kind: AdminActor['kind'], request: Request, audit: Audit): AdminActor => ({
  kind,
  record: (event: AuditEvent) => audit.record(event, request),
  read: (read, id) => audit.note({ action: 'admin.read', target: { kind: read, id } }, request),
})

const notAllowed = (): Problem =>
  new Problem(403, 'not allowed', { event: { action: 'access.refuse', target: { kind: 'admin' } } })
