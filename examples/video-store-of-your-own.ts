/** Video tasks and their queue in two tables of your app. The upstream is the emulator: `bun run emulator --port 4000`. */
import { DatabaseSync } from 'node:sqlite'
import { Elysia } from 'elysia'
import { createNodeServer } from 'sluice'
import { type VideoRow, type VideoTaskStore, videoGeneration } from 'sluice/video-generation'

export const createStore = (database: DatabaseSync): VideoTaskStore => {
  database.exec(`
    pragma foreign_keys = on;
    create table video_rows (key text primary key, json text);
    create table video_lists (list text, position text, key text references video_rows on delete cascade,
      primary key (list, position));`)
  const read = database.prepare('select json from video_rows where key = ?')
  const remove = database.prepare('delete from video_rows where key = ?')
  const insert = database.prepare('insert into video_rows values (?, ?)')
  const enter = database.prepare('insert into video_lists values (?, ?, ?)')
  const select = (order: 'asc' | 'desc') =>
    database.prepare(`select json from video_lists join video_rows using (key)
      where list = ? and position > ? and position < ? order by position ${order} limit ?`)
  const [first, last] = [select('asc'), select('desc')]

  const rowOf = (found: object): VideoRow => JSON.parse((found as { json: string }).json)
  const rowWith = (key: string) => read.all(key).map(rowOf)[0]
  return {
    readVideoRow: async (key) => rowWith(key),
    async changeVideoRows(changes) {
      database.exec('begin immediate')
      try {
        if (changes.some(({ key, from }) => rowWith(key)?.version !== from)) return false
        for (const { key } of changes) remove.run(key)
        for (const { key, to } of changes) if (to) insert.run(key, JSON.stringify(to))
        for (const { key, to } of changes)
          for (const { list, position } of to?.lists ?? []) enter.run(list, position, key)
        database.exec('commit')
        return true
      } finally {
        if (database.isTransaction) database.exec('rollback')
      }
    },
    listVideoRows: async (list, { above = '', below = '~', descending, limit }) =>
      (descending ? last : first).all(list, above, below, limit).map(rowOf),
  }
}

const store = createStore(new DatabaseSync(':memory:'))
const upstream = { url: 'http://127.0.0.1:4000/api/v3', key: 'emulator-video-key' }
const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
export const app = new Elysia().use(videoGeneration({ store, upstream, identify, background: true }))
if (import.meta.main) await createNodeServer(app).listen(3000)
