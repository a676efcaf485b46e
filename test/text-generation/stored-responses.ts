import { afterAll, beforeAll } from 'bun:test'
import type { TextGenerationOptions } from '../../plugins/text-generation/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { openApp, type TextApp, type UpstreamRequest } from './fixture.ts'

/** A store for the tests of one file. */
export const testStore = (): Store => {
  const store = openStore('sqlite::memory:')
  beforeAll(() => store.migrate())
  afterAll(() => store.close())
  return store
}

let last = 0
/** A new id. */
export const newId = () => `resp_${++last}`

export const stored = (id: string, more: object = {}) => ({
  id,
  object: 'response',
  status: 'completed',
  output: [],
  ...more,
})

export interface Open extends TextApp {
  readonly id: string
  as(user: string, method: string, path: string, body?: object): Promise<Response>
}

/** Opens apps whose callers name their user in a header, and whose upstream always returns one id. */
export const opener =
  (objects: Store) =>
  (
    response: (asked: UpstreamRequest, id: string) => Response | Promise<Response> = (_, id) =>
      Response.json(stored(id)),
    options: Partial<TextGenerationOptions> = {},
  ): Open => {
    const id = newId()
    const app = openApp((asked) => response(asked, id), {
      objects,
      identify: (request) => ({ user: request.headers.get('authorization') ?? '', token: 't1' }),
      ...options,
    })
    return {
      ...app,
      id,
      as: (user, method, path, body) =>
        app.ask(path, {
          method,
          headers: { authorization: user, ...(body && { 'content-type': 'application/json' }) },
          body: body && JSON.stringify(body),
        }),
    }
  }

export const create = (app: Open, user: string, more: object = {}) =>
  app.as(user, 'POST', '/responses', { model: 'm', input: 'x', ...more })

export const refusal = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
})
