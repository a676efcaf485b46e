import { expect, test } from 'bun:test'
import { bodyOf, storedOpener } from './stored-fixture.ts'
import { testStore } from './stored-responses.ts'

const store = testStore()

/** The store, which has no room while `state.isFull`. */
const openFull = () => {
  const state = { isFull: true }
  const full = Object.assign(new Error('the database has no room at /data/secret-path'), { code: 'ENOSPC' })
  const requireRoom = () => (state.isFull ? Promise.reject(full) : undefined)
  const app = storedOpener(
    new Proxy(store, { get: (of, name) => (name === 'requireRoom' ? requireRoom : Reflect.get(of, name)) }),
  )()
  const ask = (body: object) => app.as('ann', 'POST', '/responses', { input: 'x', ...body })
  return { state, app, ask }
}

for (const model of ['m', 'native'])
  for (const stream of [false, true])
    test(`a response that a full store cannot keep costs no call of the upstream (${model}, stream ${stream})`, async () => {
      const { state, app, ask } = openFull()
      const rejected = await ask({ model, stream })
      expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '30'])
      expect(await rejected.text()).toContain('"message":"response could not be recorded"')
      expect(app.asked).toHaveLength(0)
      expect((await ask({ model, store: false })).status).toBe(200)
      state.isFull = false
      const [status, { id }] = await bodyOf(ask({ model }))
      expect([status, typeof id]).toEqual([200, 'string'])
      expect(app.asked).toHaveLength(2)
    })
