import {
  holderOfResponse,
  type TextObject,
  type TextObjectStore,
} from '../../../plugins/text-generation/objects/store.ts'
import type { Database } from '../database/database.ts'
import { GroupCommit } from '../database/group-commit.ts'
import { deleteOldest } from '../database/oldest-rows.ts'
import { clause, type Statement, sql } from '../database/statement.ts'
import { confirmHold, endHold } from '../limits/holds.ts'
import { modelName } from '../usage/usage.ts'

/**
 * The owners of text objects (responses, conversations, items). An expired record has no effect, and stays until a
 * sweep deletes it.
 */
export const createTextObjectStore = (database: Database): TextObjectStore => {
  const groupCommit = new GroupCommit(database)
  /** When an object is recorded for two users, the first one keeps it until it expires. Its persons stay. */
  const record = ({
    kind,
    id,
    user,
    token,
    upstream,
    model,
    createdAt,
    expiresAt,
    dueAt,
    persons,
  }: TextObject): Statement => sql`
    insert into text_objects (kind, id, user_id, token_id, upstream, model, created_at, expires_at, due_at, persons)
    values (
      ${kind}, ${id}, ${user}, ${token}, ${upstream}, ${modelName(model)}, ${createdAt}, ${expiresAt}, ${dueAt},
      ${persons && JSON.stringify(persons)}
    )
    on conflict (kind, id) do update
    set user_id = excluded.user_id,
      token_id = excluded.token_id,
      upstream = excluded.upstream,
      model = excluded.model,
      created_at = excluded.created_at,
      expires_at = excluded.expires_at,
      due_at = excluded.due_at
    where text_objects.user_id = excluded.user_id
    or text_objects.expires_at <= excluded.created_at
    returning kind, id, persons`

  /** Records objects that show persons, and adds the persons to those that an object shows already. */
  const recordWithPersons = (objects: readonly TextObject[]): Promise<TextObject[]> =>
    database.transaction(function* () {
      // Always in the same order, so that two transactions cannot deadlock.
      const rows = yield objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(record)
      const recorded = new Map(rows.map(({ kind, id, persons }) => [`${kind} ${id}`, personsFrom(persons)]))
      yield objects.flatMap(({ kind, id, persons = [] }) => {
        const known = recorded.get(`${kind} ${id}`)
        if (!known || persons.every((person) => known.includes(person))) return []
        return sql`
          update text_objects
          set persons = ${JSON.stringify([...new Set([...known, ...persons])])}
          where kind = ${kind}
          and id = ${id}`
      })
      return objects.filter((object) => !recorded.has(keyOf(object)))
    })

  return {
    async recordTextObjects(objects) {
      if (objects.length === 0) return []
      if (objects.some(({ persons = [] }) => persons.length > 0)) return recordWithPersons(objects)
      const rows = await groupCommit.write(objects.map((object) => ({ row: keyOf(object), statement: record(object) })))
      return objects.filter((_, index) => rows[index]?.length === 0)
    },

    async findTextObject(user, kind, id, now) {
      const [found] = await database.query<Omit<TextObject, 'persons'> & { persons?: string }>(sql`
        select kind, id, user_id as "user", token_id as token, upstream, model, created_at as "createdAt",
          expires_at as "expiresAt", due_at as "dueAt", persons
        from text_objects
        where kind = ${kind}
        and id = ${id}
        and user_id = ${user}
        and expires_at > ${now}`)
      if (!found) return undefined
      const { persons, ...object } = found
      return persons === undefined ? object : { ...object, persons: personsFrom(persons) }
    },

    async removeTextObject({ kind, id, user }) {
      await database.query(sql`
        delete from text_objects
        where kind = ${kind}
        and id = ${id}
        and user_id = ${user}`)
    },

    async dueTextResponses(now, max) {
      return database.query<TextObject>(sql`
        select kind, id, user_id as "user", token_id as token, upstream, model, created_at as "createdAt",
          expires_at as "expiresAt", due_at as "dueAt"
        from text_objects
        where due_at <= ${now}
        order by due_at, id
        limit ${max}`)
    },

    async deferTextResponse({ id, dueAt }, until) {
      const deferred = await database.query(sql`
        update text_objects
        set due_at = ${until}
        where kind = 'response'
        and id = ${id}
        and due_at = ${dueAt}
        returning id`)
      return deferred.length === 1
    },

    async markUsageRecorded(id, used = {}) {
      return database.transaction(function* () {
        const [updated] = yield sql`
          update text_objects
          set due_at = null
          where kind = 'response'
          and id = ${id}
          and due_at is not null
          returning id`
        if (updated) yield* endHold(holderOfResponse(id), used)
        return updated !== undefined
      })
    },

    async keepResponseHold(id) {
      await database.query(confirmHold(holderOfResponse(id)))
    },

    async sweepTextObjects(now, max) {
      const swept = await database.query(deleteExpiredTextObjects(now, max))
      return swept.length
    },
  }
}

export const deleteExpiredTextObjects = (now: number, max: number): Statement =>
  deleteOldest(
    {
      ...{ table: clause`text_objects`, time: clause`expires_at`, key: clause`kind, id` },
      where: clause`expires_at <= ${now} and due_at is null`,
    },
    max,
  )

const keyOf = ({ kind, id }: Pick<TextObject, 'kind' | 'id'>): string => `${kind} ${id}`

const personsFrom = (column: unknown): readonly string[] =>
  typeof column === 'string' ? (JSON.parse(column) as readonly string[]) : []
