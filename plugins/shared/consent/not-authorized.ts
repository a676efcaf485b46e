import { accessDenied } from '../audit.ts'
import { Problem } from '../problem.ts'

/** The error for an asset, or for a group, of a person who does not authorize its use any more. */
export const notAuthorized = (kind: 'asset' | 'group', id: string): Problem =>
  new Problem(403, `the person of this ${kind} no longer authorizes its use`, { event: accessDenied(kind, id) })
