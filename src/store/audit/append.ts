import type { Steps } from '../database/database.ts'
import { type Statement, sql } from '../database/statement.ts'
import { type ChainPlace, hmacOf } from './chain.ts'
import type { NewAuditEntry } from './entry.ts'

/**
 * Appends entries to the chain. The update of the head locks it until the end of the transaction, so the chains of two
 * processes never fork, and numbers have no gaps. The lock is held for two round trips, whatever the number of entries.
 */
export function* appendEntries(entries: readonly NewAuditEntry[], secret: string): Steps {
  const lookups = new Map(entries.filter(namesUser).map((entry) => [userKey(entry), findUser(entry)]))
  const found = yield [...lookups.values(), lockHead]
  const head = found.at(-1)
  if (head?.sequence === undefined) throw new Error('the chain of the audit trail has lost its head')
  const users = new Map(found.slice(0, -1).map((user) => [String(user.key), user]))
  const start: ChainPlace = { sequence: Number(head.sequence), hmac: String(head.hmac) }
  let remaining = entries.map((entry): NewAuditEntry => {
    // A name that no user has is not stored: it may be a password in the wrong field.
    const { id, name } = users.get(userKey(entry)) ?? {}
    return { ...entry, user: entry.user ?? textOf(id), name: textOf(name) }
  })
  while (remaining.length > 0) {
    let place = start
    const inserts = remaining.map((entry) => {
      const sequence = place.sequence + 1
      place = { sequence, hmac: hmacOf(secret, place.hmac, sequence, entry) }
      return insertEntry(entry, place)
    })
    const inserted = new Set((yield [...inserts, moveHead(place)]).map(({ id }) => id))
    if (inserted.size === remaining.length) return
    // An earlier attempt, whose outcome was not known, has written the others. Without them, the numbers have no gaps.
    yield [...Array.from(inserted, (id) => dropEntry(String(id))), moveHead(start)]
    remaining = remaining.filter(({ id }) => inserted.has(id))
  }
}

const textOf = (value: string | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

const namesUser = ({ user, name }: NewAuditEntry): boolean => user !== undefined || name !== undefined

const userKey = ({ user, name }: NewAuditEntry): string => (user === undefined ? `name ${name}` : `id ${user}`)

/**
 * The user of an entry. The statement is the same for a name that no user has, so its duration does not reveal whether
 * the user exists.
 */
const findUser = (entry: NewAuditEntry): Statement => sql`
  select cast(${userKey(entry)} as text) as key, id, name
  from users
  where id = ${entry.user}
  or name = ${entry.user === undefined ? entry.name : undefined}`

const lockHead = sql`
  update audit_chain
  set sequence = sequence
  where name = 'head'
  returning sequence, hmac`

const moveHead = ({ sequence, hmac }: ChainPlace): Statement => sql`
  update audit_chain
  set sequence = ${sequence}, hmac = ${hmac}
  where name = 'head'`

const insertEntry = (entry: NewAuditEntry, { sequence, hmac }: ChainPlace): Statement => {
  const { id, at, action, user, name, token, kind, target, address, status, reason, fields, times } = entry
  return sql`
    insert into audit_entries (
      id, at, action, user_id, user_name, token_id, kind, target, address, status, reason, fields, times, sequence,
      hmac
    )
    values (
      ${id}, ${at}, ${action}, ${user}, ${name}, ${token}, ${kind}, ${target}, ${address}, ${status}, ${reason},
      ${fields?.join(' ')}, ${times}, ${sequence}, ${hmac}
    )
    on conflict (id) do nothing
    returning id`
}

const dropEntry = (id: string): Statement => sql`
  delete from audit_entries
  where id = ${id}`
