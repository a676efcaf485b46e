import { randomUUID } from 'node:crypto'
import type { ImportedUser, RejectedUser, UserImportStore } from '../../../plugins/admin/user-import/store.ts'
import { nextTurn } from '../../../plugins/shared/background/turns.ts'
import { nameKey } from '../../../plugins/shared/identity/name-key.ts'
import type { Database, Row, Steps } from '../database/database.ts'
import { StoreError } from '../database/error.ts'
import { clause, type Statement, sql, valueList, withCommas } from '../database/statement.ts'
import { addPartsOf, deletePartsOf } from '../users/user-rows.ts'
import { countMembers } from './teams.ts'
import { again, OvertakenError } from './transaction.ts'

/** Users in one statement. */
const chunkSize = 100
/** The same for the parts of their names: SQLite answers nothing else meanwhile. */
const partsChunkSize = 10
const importMs = 600_000

/** Imports of users. */
export const createUserImportStore = (database: Database): Omit<UserImportStore, 'teamByName'> => ({
  async rejectedUsers(users) {
    const steps = rejectedUsersSteps(users)
    let step = steps.next()
    while (!step.done) {
      step = steps.next(await database.query(step.value))
      await nextTurn()
    }
    return step.value
  },

  async importUsers(users, createdAt) {
    await removeUnfinished(database, createdAt)
    const importId = randomUUID()
    const rows: string[] = []
    const added = users.map((user) => ({ ...user, id: randomUUID() }))
    // The parts of the names are most of the work. They come first and not in one transaction, so that others can write
    // meanwhile; without their users nobody finds them. If this process is killed, a later import removes them.
    for (const some of chunksOf(added, idsInRow)) {
      const name = rowName(importId, rows.length)
      rows.push(name)
      await database.query(rememberIds(name, idsOf(some), createdAt))
      for (const chunk of chunksOf(some, partsChunkSize)) await database.query(addPartsOf(chunk))
    }
    const rejected = await again(() =>
      database.transaction(() => importUsersSteps(added, createdAt, rows), { deadlineMs: importMs }),
    )
    if (rejected.length === 0) return { ids: idsOf(added) }
    for (const chunk of chunksOf(added)) await database.query(deletePartsOf(idsOf(chunk)))
    for (const chunk of chunksOf(rows)) await database.query(forgetIds(chunk))
    return { rejected }
  },
})

interface AddedUser extends ImportedUser {
  readonly id: string
}

const idsOf = (users: readonly AddedUser[]): readonly string[] => users.map(({ id }) => id)

/** Returns the users who cannot be added: then none is. @param rows which remember their ids */
function* importUsersSteps(
  users: readonly AddedUser[],
  createdAt: number,
  rows: readonly string[],
): Steps<readonly RejectedUser[]> {
  const rejected = yield* rejectedUsersSteps(users)
  if (rejected.length > 0) return rejected
  const members = new Map<string, number>()
  for (const { team } of users) if (team !== undefined) members.set(team, (members.get(team) ?? 0) + 1)
  // In a fixed order, so that two transactions cannot deadlock.
  for (const [team, count] of [...members].sort())
    if ((yield countMembers(team, count)).length === 0) throw new OvertakenError()
  for (const chunk of chunksOf(users)) yield insertUsers(chunk, createdAt)
  for (const chunk of chunksOf(rows))
    if ((yield forgetIds(chunk)).length < chunk.length)
      throw new StoreError('an import has taken so long that another one has removed the parts of its names')
  return []
}

function* rejectedUsersSteps(
  users: readonly ImportedUser[],
): Generator<Statement, readonly RejectedUser[], readonly Row[]> {
  const teams = new Set(users.flatMap(({ team }) => team ?? []))
  const known = new Set<unknown>()
  for (const chunk of chunksOf([...teams])) for (const { id } of yield teamsIn(chunk)) known.add(id)
  const rejected: RejectedUser[] = []
  let index = 0
  for (const chunk of chunksOf(users)) {
    const keys = chunk.map(({ name }) => nameKey(name))
    const found = yield namesIn(
      chunk.map(({ name }) => name),
      keys,
    )
    const names = new Set(found.flatMap(({ name, key }) => [name, key]))
    const ids = chunk.flatMap(({ externalId }) => externalId ?? [])
    const taken = new Set(ids.length === 0 ? [] : (yield externalIdsIn(ids)).map(({ id }) => id))
    for (const [at, { name, team, externalId }] of chunk.entries()) {
      if (names.has(name) || names.has(keys[at])) rejected.push({ index, reason: 'name-taken' })
      if (externalId !== undefined && taken.has(externalId)) rejected.push({ index, reason: 'external-id-taken' })
      if (team !== undefined && !known.has(team)) rejected.push({ index, reason: 'unknown-team' })
      index++
    }
  }
  return rejected
}

function* chunksOf<Item>(items: readonly Item[], size = chunkSize): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

const teamsIn = (ids: readonly string[]): Statement => clause`select id from teams where id in (${valueList(ids)})`

const externalIdsIn = (ids: readonly string[]): Statement =>
  clause`select external_id as id from users where external_id in (${valueList(ids)})`

const namesIn = (names: readonly string[], keys: readonly string[]): Statement => clause`
  select name, name_key as key
  from users
  where name in (${valueList(names)})
  or name_key in (${valueList(keys)})`

const insertUsers = (users: readonly AddedUser[], createdAt: number): Statement => clause`
  insert into users (id, name, name_key, role, team_id, service, external_id, created_at)
  values ${withCommas(users.map((user) => rowOf(user, createdAt)))}`

const rowOf = ({ id, name, role, team, externalId }: AddedUser, createdAt: number) =>
  clause`(${id}, ${name}, ${nameKey(name)}, ${role}, ${team}, 0, ${externalId}, ${createdAt})`

/** After that time, the next import removes what one has left that has not ended: its process was killed. */
export const unfinishedMs = 3_600_000

/** What the names of its rows begin with. */
const prefix = 'user-import:'
/** Users whose ids one row has. */
const idsInRow = 1_000
/** Users whose parts one statement deletes: SQLite answers nothing else meanwhile. */
const deletedAtOnce = 100

/** The name of a row of an import. */
const rowName = (importId: string, nth: number): string => `${prefix}${importId}:${nth}`

/** Remembers the ids of users whose parts are added before them: a lease that nobody extends. */
const rememberIds = (name: string, ids: readonly string[], now: number): Statement => sql`
  insert into leases (name, holder, lease_until)
  values (${name}, ${ids.join(' ')}, ${now + unfinishedMs})`

/** Forgets the ids of some rows, and returns the rows that there were: at least one name. */
const forgetIds = (names: readonly string[]): Statement =>
  clause`delete from leases where name in (${valueList(names)}) returning name`

/** Removes what imports have left whose processes were killed. */
const removeUnfinished = async (database: Database, now: number): Promise<void> => {
  const rows = await database.query<{ name: string; holder: string }>(sql`
    select name, holder
    from leases
    where substr(name, 1, ${prefix.length}) = ${prefix}
    and lease_until <= ${now}`)
  for (const { name, holder } of rows) {
    const ids = holder.split(' ')
    for (let from = 0; from < ids.length; from += deletedAtOnce)
      await database.query(deletePartsOf(ids.slice(from, from + deletedAtOnce)))
    await database.query(forgetIds([name]))
  }
}
