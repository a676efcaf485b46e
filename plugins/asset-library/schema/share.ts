import type { Borrower, ShareAccess } from '../../ownership/index.ts'
import { instantOf } from '../../pagination-normalizer/index.ts'
import type { JsonBody } from '../../shared/http/body/body.ts'
import { isUserId } from '../../shared/identity/identify.ts'
import type { Json } from '../../shared/json/json.ts'
import { Problem } from '../../shared/problem.ts'

/** What "lend a group" asks for. */
export interface NewShareFields {
  readonly borrower: Borrower
  readonly access: ShareAccess
  /** Milliseconds since 1970. Undefined: until it is revoked. */
  readonly expiresAt: number | undefined
}

const fields: ReadonlySet<string> = new Set(['User', 'Team', 'Access', 'ExpireTime'])

/**
 * Reads the body of "lend a group". Throws Problem 400 for the first error, also for a field that does not exist: a
 * misspelt `ExpireTime` would lend the group for ever.
 */
export const readNewShare = ({ json }: JsonBody, now: number): NewShareFields => {
  const seen = new Set<string>()
  for (const { key } of json.members()) {
    if (!fields.has(key)) throw new Problem(400, 'a share has only the fields User, Team, Access and ExpireTime')
    if (seen.has(key)) throw new Problem(400, `${key} stands twice in the body`)
    seen.add(key)
  }
  const access = json.get('Access')
  const word = access === undefined ? 'read' : access.string()
  if (word !== 'read' && word !== 'use') throw new Problem(400, 'Access must be read or use')
  return { borrower: readBorrower(json), access: word, expiresAt: readExpiry(json.get('ExpireTime'), now) }
}

const readBorrower = (json: Json): Borrower => {
  const [user, team] = [json.get('User'), json.get('Team')]
  const id = (user ?? team)?.string()
  if ((user === undefined) === (team === undefined)) throw new Problem(400, 'one of User and Team is required')
  if (!isUserId(id)) throw new Problem(400, `${user ? 'User' : 'Team'} must be a text of 1 to 1024 bytes`)
  return user ? { user: id } : { team: id }
}

const readExpiry = (value: Json | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const time = instantOf(value.string())
  if (time === undefined || time <= now) throw new Problem(400, 'ExpireTime must be a time to come, in ISO 8601')
  return Math.floor(time)
}
