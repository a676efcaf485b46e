import { randomUUID } from 'node:crypto'
import { Background } from '../../plugins/shared/background/background.ts'
import type { AppOptions } from '../../src/app/options.ts'
import { type EmulatorOptions, startEmulator, type VideoOptions } from '../../src/emulator/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { checkReply } from '../support/checked-servers.ts'
import { migratedDatabase, type TestDatabase } from '../support/database.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, type User } from '../support/gateway.ts'

export { MODEL, MODEL_10, MODEL_25, media, text } from '../emulator/video-client.ts'

import { MODEL, text } from '../emulator/video-client.ts'

export { until } from '../support/until.ts'

export const tasksPath = '/api/v3/contents/generations/tasks'

export interface VideoReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly json: any
  /** `error.code`, if the response is an error. */
  readonly code: string | undefined
}

/** A user who calls the routes of video generation. */
export interface VideoUser extends User {
  /** `path`: below the tasks, with a slash or a query. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<VideoReply>
  /** Creates a task of a prompt. */
  create(prompt?: string, more?: object): Promise<VideoReply>
  /** The same; returns its id, and throws for an error. */
  created(prompt?: string, more?: object): Promise<string>
  get(id: string): Promise<VideoReply>
  statusOf(id: string): Promise<string>
}

export interface VideoFixture extends AsyncDisposable {
  readonly gateway: TestGateway
  readonly emulator: TestGateway['emulator']
  readonly store: Store
  readonly ann: VideoUser
  readonly bob: VideoUser
  /** Stops the work in the background, as a killed process does. */
  stop(): void
}

export interface VideoFixtureOptions {
  readonly video?: VideoOptions
  readonly gateway?: Partial<AppOptions['video']>
  readonly emulator?: EmulatorOptions
  /** Default: SQLite in memory. */
  readonly database?: TestDatabase['kind']
  /** Instead of a database; it stays open. */
  readonly store?: Store
  readonly more?: TestGatewayOptions
}

/** A gateway whose upstream starts tasks at once and runs them until `emulator.video.finish`, with two users. It polls every few milliseconds. */
export const openVideoFixture = async (options: VideoFixtureOptions = {}): Promise<VideoFixture> => {
  const emulator = await startEmulator({
    processingMs: 0,
    ...options.emulator,
    video: { queuedMs: 0, runningMs: Number.POSITIVE_INFINITY, ...options.video },
  })
  const background = new Background()
  // A database of its own: two emulators may give the same ids.
  const database = options.database && (await migratedDatabase(options.database))
  const store = options.store ?? openStore(database?.url ?? 'sqlite::memory:', { deadlineMs: 60_000 })
  const gateway = await startGateway({
    ...options.more,
    emulator,
    store,
    video: { pollMs: 10, settleMs: 100, background, ...options.gateway },
  })
  const user = async (name: string) => videoUser(gateway, await gateway.addUser(`${name} ${randomUUID()}`))
  return {
    ...{ gateway, emulator, store },
    ann: await user('ann'),
    bob: await user('bob'),
    stop: () => void background.stop(),
    async [Symbol.asyncDispose]() {
      void background.stop()
      await gateway[Symbol.asyncDispose]()
      if (!options.store) await store.close()
      await database?.remove()
      await emulator.stop()
    },
  }
}

/** A user of a gateway as a caller of its routes. */
export const videoUser = ({ url }: { readonly url: string }, user: User): VideoUser => {
  const send: VideoUser['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${tasksPath}${path}`, {
      method,
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json', ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    })
    const answer = await response.text()
    checkReply(url, {
      ...{ method, target: tasksPath + path, status: response.status, body: answer },
      headers: Object.fromEntries(response.headers),
    })
    const json = answer.startsWith('{') ? JSON.parse(answer) : undefined
    return { status: response.status, headers: response.headers, text: answer, json, code: json?.error?.code }
  }
  const create: VideoUser['create'] = (prompt = 'a cat', more = {}) =>
    send('POST', '', { model: MODEL, content: [text(prompt)], ...more })
  return {
    ...user,
    send,
    create,
    async created(prompt, more) {
      const reply = await create(prompt, more)
      if (typeof reply.json?.id !== 'string') throw new Error(reply.text)
      return reply.json.id
    },
    get: (id) => send('GET', `/${id}`),
    statusOf: async (id) => (await send('GET', `/${id}`)).json?.status,
  }
}
