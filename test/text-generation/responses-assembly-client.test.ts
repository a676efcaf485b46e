import { describe, expect, test } from 'bun:test'
import { finalOf, rawOf } from './responses-assembly-clients.ts'
import { corpus } from './responses-assembly-corpus.ts'
import { type Event, type Members, resultOf, wire } from './responses-assembly-streams.ts'

/** Convenience members that the client adds. They are not on the wire. */
const conveniences = new Set(['output_text', 'output_parsed', 'parsed', 'parsed_arguments', '_request_id'])

const asSent = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, member) => (conveniences.has(key) ? undefined : member))

describe('the assembled response equals that of OpenAI’s client', () => {
  for (const { name, text, official } of corpus) {
    if (official?.outcome === 'throws') {
      test(`${name}: the client fails, ${official.reason}`, async () => {
        await expect(finalOf(text)).rejects.toThrow()
      })
    } else if (official) {
      test(`${name}: it differs, ${official.reason}`, async () => {
        expect(asSent(await finalOf(text))).toEqual({ ...(resultOf(text) as Members), output: [] })
      })
    } else {
      test(name, async () => {
        expect(asSent(await finalOf(text))).toEqual(resultOf(text))
      })
    }
  }

  test('and equals the response of the last event', async () => {
    for (const { name, text, events, official } of corpus) {
      if (official || !events.at(-1)?.response) continue
      const { events: seen, thrown } = await rawOf(text)
      expect(thrown, name).toBeUndefined()
      expect(asSent(seen.at(-1)?.response), name).toEqual(resultOf(text))
    }
  })

  test('when the last event has no output, both assemble it', async () => {
    const told = corpus.filter(
      ({ events, official }) => !official && events.some(({ type }) => type.endsWith('item.done')),
    )
    expect(told.length).toBeGreaterThan(20)
    for (const { name, response, events } of told) {
      const last = events.at(-1) as Event
      const { output: _, ...silent } = last.response as Members
      const text = wire([...events.slice(0, -1), { ...last, response: silent }])
      expect(resultOf(text), name).toEqual(response)
      expect(asSent(await finalOf(text)), name).toEqual(response)
    }
  })
})
