import { Database } from 'bun:sqlite'
import { readdirSync, readlinkSync } from 'node:fs'
import type { Started } from '../processes.ts'
import type { Reading, Rest } from './verdict.ts'

/** The descriptors of a process. Linux only: elsewhere none is seen. */
const descriptorsOf = (pid: number): Pick<Reading, 'descriptors' | 'sockets'> => {
  if (process.platform !== 'linux') return { descriptors: 0, sockets: 0 }
  const targets = readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)]
    } catch {
      return [] // It was closed meanwhile.
    }
  })
  return { descriptors: targets.length, sockets: targets.filter((target) => target.startsWith('socket:')).length }
}

export const readingOf = (server: Started, startedAt: number): Reading => ({
  at: (performance.now() - startedAt) / 1_000,
  memory: server.memory() / 2 ** 20,
  ...descriptorsOf(server.pid),
})

/** What the server uses now, and the rows of its database file. */
export const restOf = (server: Started, file: string): Rest => {
  const database = new Database(file, { readonly: true })
  try {
    const tables = database.query<{ name: string }, []>(`select name from sqlite_master where type = 'table'`).all()
    const count = (table: string) =>
      database.query<{ count: number }, []>(`select count(*) as count from "${table}"`).get()?.count ?? 0
    return { ...descriptorsOf(server.pid), rows: new Map(tables.map(({ name }) => [name, count(name)])) }
  } finally {
    database.close()
  }
}
