import { describe, expect, test } from 'bun:test'
import { APIError } from 'openai'
import { failedEvents } from '../../plugins/text-generation/responses/assembly.ts'
import { repeats } from '../support/repetitions.ts'
import { finalOf, rawOf } from './responses-assembly-clients.ts'
import { call, corpus, message, response, text } from './responses-assembly-corpus.ts'
import { assembled, eventsOf, read, wire } from './responses-assembly-streams.ts'

/** Streams that OpenAI's client accepts, interrupted after each event. */
const broken = corpus
  .filter(({ official }) => official?.outcome !== 'throws')
  .flatMap(({ name, events }) =>
    events.slice(0, -1).map((_, at) => {
      const text = wire(events.slice(0, at + 1))
      return { name, text, end: failedEvents(assembled(read(text)), 'upstream broke off') }
    }),
  )

/** Those that the client of OpenAI reads. */
const tried = broken.filter((_, nth) => nth % repeats(4, 1) === 0)

const dataOf = (text: string) => read(text).map(({ data }) => JSON.parse(data))
const first = (end: string) => end.slice(0, end.indexOf('\n\n') + 2)

describe('an interrupted stream', () => {
  test('ends with the failed response and an error, with consecutive sequence numbers', () => {
    const events = eventsOf(response([message([text('One two.')])])).slice(0, 6)
    const end = failedEvents(assembled(read(wire(events))), 'up\nstream "broke"')
    expect(read(end).map(({ type }) => type)).toEqual(['response.failed', 'error'])
    const [failed, error] = dataOf(end)
    const said = { code: 'server_error', message: 'up\nstream "broke"' }
    expect(failed).toMatchObject({
      type: 'response.failed',
      sequence_number: 6,
      response: { id: 'resp_1', status: 'failed', error: said, output: [{ content: [{ text: 'One two.' }] }] },
    })
    expect(error).toEqual({ type: 'error', ...said, param: null, sequence_number: 7 })
    expect(end).toEndWith('\n\n')
  })

  test('ends with an error only when no response was created', () => {
    const end = failedEvents(assembled([]), 'gone')
    expect(dataOf(end)).toEqual([
      { type: 'error', code: 'server_error', message: 'gone', param: null, sequence_number: 0 },
    ])
    expect(assembled([]).snapshot).toBeUndefined()
  })

  test('contains no partial call and no unfinished item', () => {
    const events = eventsOf(response([call('1', '{}'), message([text('One two.')]), call('2', '{"a": 1}')])).slice(
      0,
      -3,
    )
    const [failed] = dataOf(failedEvents(assembled(read(wire(events.slice(0, -5)))), 'gone'))
    expect(failed.response.output).toEqual([call('1', '{}'), message([text('One two.')], { status: 'incomplete' })])
    const [later] = dataOf(failedEvents(assembled(read(wire(events))), 'gone'))
    expect(later.response.output).toEqual([call('1', '{}'), message([text('One two.')])])
  })

  test('is an error after the failed response for readers of single events', async () => {
    expect(broken.length).toBeGreaterThan(500)
    for (const { name, text, end } of tried) {
      const { events, thrown } = await rawOf(text + end)
      expect(events.at(-1), name).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
      expect(thrown, name).toBeInstanceOf(APIError)
      expect(thrown, name).toMatchObject({ message: 'upstream broke off', code: 'server_error', type: 'error' })
    }
  })

  test('is an error for users of the stream helper', async () => {
    for (const { name, text, end } of tried) {
      const thrown = await finalOf(text + end).catch((error) => error)
      expect(thrown, name).toBeInstanceOf(APIError)
      expect(thrown, name).toMatchObject({ message: 'upstream broke off' })
    }
  })

  test('is a failed response for readers who stop at that event', async () => {
    for (const { name, text, end } of tried) {
      const response = await finalOf(text + first(end))
      expect(response, name).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: 'upstream broke off' },
      })
    }
  })
})
