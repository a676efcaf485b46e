import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Started } from '../processes.ts'
import type { Collection, Reading, Rest } from './verdict.ts'

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
  ...descriptorsOf(server.pid),
})

/**
 * Lets a server that has preloaded `collect.ts` collect its garbage. Resolves with what is left.
 *
 * @param file where the server tells it
 */
export const collect = async ({ pid }: Started, file: string, startedAt: number): Promise<Collection> => {
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [])
  const before = lines().length
  process.kill(pid, 'SIGUSR2')
  while (lines().length === before) await Bun.sleep(20)
  const left = JSON.parse(lines().at(-1) ?? '') as Omit<Collection, 'at'>
  return { at: (performance.now() - startedAt) / 1_000, ...left }
}

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
