import { randomUUID } from 'node:crypto'
import { createFrameSplitter } from '../../plugins/sse-relay/index.ts'
import type { Database } from '../../src/store/database/database.ts'
import { openPostgres } from '../../src/store/database/postgres.ts'
import { openSqlite } from '../../src/store/database/sqlite.ts'
import { sql } from '../../src/store/database/statement.ts'
import { addEvent, type NewEvent } from '../../src/store/events/events.ts'
import type { TestDatabase } from '../support/database.ts'

/** A connection to the database of a suite, as another process has it. */
export const openDatabase = ({ kind, url }: Pick<TestDatabase, 'kind' | 'url'>): Database =>
  kind === 'sqlite' ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url, { deadlineMs: 10_000 })

/** Adds an event, as another process does. */
export const happen = (database: Database, user: string, type: string, more: Partial<NewEvent> = {}) =>
  database.batch(addEvent({ user, type, data: '{"id":"1"}', at: Date.now(), ...more }))

/** Removes all events of a user. */
export const forget = (database: Database, user: string) =>
  database.query(sql`
    delete from events
    where user_id = ${user}`)

export const newUser = () => randomUUID()

/** What a client has received. A frame without data has no type. */
export interface Received {
  readonly type?: string
  readonly id?: string
  readonly data?: unknown
  readonly text: string
}

/** Reads an event stream frame by frame. */
export const readStream = (response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const splitter = createFrameSplitter()
  const frames: Received[] = []
  const decoder = new TextDecoder()
  const next = async (): Promise<Received | undefined> => {
    while (frames.length === 0) {
      const { done, value } = await reader.read()
      if (done) return undefined
      for (const { bytes } of splitter.push(value)) {
        const text = decoder.decode(bytes)
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]
        const [type, id, data] = [field('event'), field('id'), field('data')]
        frames.push({ type, id, data: data === undefined ? undefined : JSON.parse(data), text })
      }
    }
    return frames.shift()
  }
  return {
    next,
    /** The types of the next frames. */
    types: async (count: number) => {
      const types: (string | undefined)[] = []
      while (types.length < count) types.push((await next())?.type)
      return types
    },
    close: () => reader.cancel(),
  }
}
