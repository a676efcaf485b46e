import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openStore, type Store } from '../../src/store/index.ts'
import { settled, VirtualClock } from '../support/virtual-clock.ts'
import { type Ending, openApp, streaming } from './fixture.ts'

let store: Store
beforeAll(async () => {
  store = openStore('sqlite::memory:')
  await store.migrate()
})
afterAll(() => store.close())

let last = 0

/** An upstream that sends complete reasoning and partial text, and then stalls. */
const open = (ending: Ending, clock = new VirtualClock()) => {
  const id = `cut_${++last}`
  const thought = { id: `rs_${id}`, type: 'reasoning', summary: [], encrypted_content: 'e' }
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  const response = { id: `resp_${id}`, object: 'response', status: 'in_progress', output: [] }
  const events = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: thought },
    { type: 'response.output_item.done', output_index: 0, item: thought },
    { type: 'response.output_item.added', output_index: 1, item: message },
  ]
  const app = openApp(
    ({ json, signal }) =>
      json.input === 'x'
        ? streaming(
            events.map((event, sequence_number) => ({ ...event, sequence_number })),
            ending,
            signal,
          )
        : Response.json({ ...response, status: 'completed' }),
    {
      ...{ objects: store, clock },
      identify: ({ headers }) => ({ user: headers.get('authorization') ?? '' }),
    },
  )
  const create = (more: object) =>
    app.post('/responses', { model: 'm', input: 'x', ...more }, { headers: { authorization: 'ann' } })
  /** Continues with the reasoning item, as client libraries do. */
  const goOn = async (authorization: string) =>
    (await app.post('/responses', { model: 'm', input: [thought] }, { headers: { authorization } })).status
  return { create, goOn, clock }
}

describe('the caller owns a complete item of an incomplete response', () => {
  for (const kept of [true, false]) {
    test(`when the upstream breaks; stored: ${kept}`, async () => {
      const { create, goOn } = open('reset')
      expect(await (await create({ stream: true, store: kept })).text()).toContain('response.failed')
      expect([await goOn('ann'), await goOn('bob')]).toEqual([200, 404])
    })

    test(`when the caller disconnects; stored: ${kept}`, async () => {
      const { create, goOn } = open('stall')
      const reader = (await create({ stream: true, store: kept })).body?.getReader()
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('rs_')
      await reader?.cancel()
      await settled()
      expect([await goOn('ann'), await goOn('bob')]).toEqual([200, 404])
    })

    test(`after a timeout; stored: ${kept}`, async () => {
      const { create, goOn, clock } = open('stall')
      const response = create({ store: kept })
      await clock.pass(200_000)
      expect((await response).headers.get('x-upstream-partialresponse')).toBe('true')
      expect(await (await response).text()).toContain('rs_')
      expect([await goOn('ann'), await goOn('bob')]).toEqual([200, 404])
    })
  }
})

test('nobody owns the id of a partial response of which the upstream has sent nothing', async () => {
  const clock = new VirtualClock()
  const app = openApp(({ signal }) => streaming([], 'stall', signal), {
    ...{ objects: store, clock },
    identify: () => ({ user: 'ann' }),
  })
  const creating = app.post('/responses', { model: 'm', input: 'x' })
  await clock.pass(200_000)
  const response = await creating
  expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
  const { id } = (await response.json()) as { id: string }
  expect(id).toMatch(/^resp_/)
  const calls = app.asked.length
  expect((await app.get(`/responses/${id}`)).status).toBe(404)
  expect(app.asked.length).toBe(calls)
})
