import type { FileStore, NewFile } from '../../plugins/file-storage/store.ts'
import type { Database } from './database/database.ts'
import { type Statement, sql } from './database/statement.ts'
import { lockUser } from './database/user-locks.ts'

/** The records of the files in the storage. */
export const createFileStore = (database: Database): Required<FileStore> => ({
  async reserveFile(file, quota) {
    if (!quota) {
      await database.query(addFile(file))
      return undefined
    }
    const { user, kind, bytes, createdAt: now } = file
    const [, before] = await database.batch([
      lockUser(user),
      sql`
        select count(*) as files, coalesce(sum(bytes), 0) as bytes, min(expires_at) as until
        from files
        where user_id = ${user}
        and kind = ${kind}
        and expires_at > ${now}`,
      sql`
        insert into files (key, user_id, kind, bytes, created_at, expires_at)
        select ${file.key}, ${user}, ${kind}, ${bytes}, ${now}, ${file.expiresAt}
        where (
          select count(*)
          from files
          where user_id = ${user}
          and kind = ${kind}
          and expires_at > ${now}
        ) < ${quota.maxFiles}
        and (
          select coalesce(sum(bytes), 0)
          from files
          where user_id = ${user}
          and kind = ${kind}
          and expires_at > ${now}
        ) <= ${quota.maxBytes - bytes}`,
    ])
    const [counted] = before ?? []
    const until = Number(counted?.until ?? now)
    if (Number(counted?.files) >= quota.maxFiles) return { reached: 'maxFiles', until }
    return Number(counted?.bytes) > quota.maxBytes - bytes ? { reached: 'maxBytes', until } : undefined
  },

  async commitFile(key, bytes, expiresAt) {
    const committed = await database.query(sql`
      update files
      set bytes = ${bytes}, expires_at = ${expiresAt}
      where key = ${key}
      returning key`)
    return committed.length === 1
  },

  async expireFiles(keys, at) {
    if (keys.length > 0) await database.batch(keys.map((key) => expireFile(key, at)))
  },

  async claimExpiredFiles(now, retryAt, max) {
    // One statement a row: for the keys of a subquery, PostgreSQL may read the whole table.
    const claimed = await database.batch(
      (await selectExpired(database, now, max)).map(
        (key) => sql`
          update files
          set expires_at = ${retryAt}
          where key = ${key}
          and expires_at <= ${now}
          returning key`,
      ),
    )
    return claimed.flat().map(({ key }) => String(key))
  },

  expiredFiles: (now, max) => selectExpired(database, now, max),

  async fileOwner(key) {
    const [file] = await database.query<{ user_id: string }>(sql`
      select user_id
      from files
      where key = ${key}`)
    return file?.user_id
  },

  async removeFileRecords(keys) {
    if (keys.length > 0) {
      await database.batch(
        keys.map(
          (key) => sql`
            delete from files
            where key = ${key}`,
        ),
      )
    }
  },
})

const selectExpired = async (database: Database, now: number, max: number): Promise<readonly string[]> => {
  const expired = await database.query<{ key: string }>(sql`
    select key
    from files
    where expires_at <= ${now}
    order by expires_at
    limit ${max}`)
  return expired.map(({ key }) => key)
}

/** Adds or replaces the record of a file, for a transaction of another part of the store. */
export const addFile = ({ key, user, kind, bytes, createdAt, expiresAt }: NewFile): Statement => sql`
  insert into files (key, user_id, kind, bytes, created_at, expires_at)
  values (${key}, ${user}, ${kind}, ${bytes}, ${createdAt}, ${expiresAt})
  on conflict (key) do update
  set bytes = ${bytes}, expires_at = ${expiresAt}`

/**
 * Lets a file expire at a time, unless it does so earlier: for a transaction of another part of the store. The next
 * sweep removes it.
 */
export const expireFile = (key: string, at: number): Statement => sql`
  update files
  set expires_at = ${at}
  where key = ${key}
  and expires_at > ${at}`
