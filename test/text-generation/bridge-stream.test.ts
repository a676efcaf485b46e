import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bridge, type Chunk, eventsIn, last, streams } from './bridge-fixture.ts'

describe('every stream', () => {
  for (const { name, chunks, items, status = 'completed' } of streams) {
    const events = eventsIn(bridge(chunks))

    test(`is numbered from 0 without gaps: ${name}`, () => {
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth))
    })

    test(`begins and ends with the events of the protocol: ${name}`, () => {
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
      expect(events.at(-1)?.type).toBe(`response.${status}`)
      expect(last(chunks)).toMatchObject({ status, id: 'resp_1' })
      expect(last(chunks).output.map(({ type }) => type)).toEqual(items as never)
    })

    test(`closes each item once, with a stable id, as in the final response: ${name}`, () => {
      const added = events.filter((event) => event.type === 'response.output_item.added')
      const done = events.filter((event) => event.type === 'response.output_item.done')
      expect(added.map(({ output_index }) => output_index)).toEqual(items.map((_, nth) => nth))
      expect(done.length).toBe(items.length)
      for (const { item, output_index } of done) {
        expect(item).toEqual(last(chunks).output[output_index] as never)
        expect(item.id).toBe(added[output_index]?.item.id as never)
        if (item.type === 'function_call') expect(item.id).not.toBe(item.call_id as never)
      }
      for (const event of events)
        if ('item_id' in event && 'output_index' in event)
          expect(event.item_id).toBe(added[event.output_index]?.item.id ?? '')
    })
  }
})

describe('with any split of a chat stream', () => {
  /** The same stream with each text split at random positions. */
  const split = (chunks: readonly Chunk[], cuts: readonly number[]): Chunk[] => {
    let at = 0
    const pieces = (text: string): string[] => {
      const where = text === '' ? 0 : (cuts[at++ % cuts.length] ?? 0) % (text.length + 1)
      return where === 0 || where === text.length ? [text] : [text.slice(0, where), ...pieces(text.slice(where))]
    }
    return chunks.flatMap((each) => {
      const [choice] = each.choices as { delta: Record<string, unknown>; finish_reason: unknown; logprobs?: unknown }[]
      if (!choice) return [each]
      const { logprobs, delta, ...rest } = choice
      const parts: object[] = []
      for (const key of ['reasoning_content', 'reasoning', 'content', 'refusal']) {
        if (typeof delta[key] !== 'string') continue
        const told = key === 'content' ? { logprobs } : {}
        const [first, ...more] = pieces(delta[key])
        parts.push({ delta: { [key]: first }, ...told }, ...more.map((piece) => ({ delta: { [key]: piece } })))
      }
      for (const call of (delta.tool_calls ?? []) as Record<string, Record<string, string>>[]) {
        const kind = call.custom ? 'custom' : 'function'
        const key = call.custom ? 'input' : 'arguments'
        const [first, ...more] = pieces(call[kind]?.[key] ?? '')
        parts.push({ delta: { tool_calls: [{ ...call, [kind]: { ...call[kind], [key]: first } }] } })
        for (const piece of more)
          parts.push({ delta: { tool_calls: [{ index: call.index, [kind]: { [key]: piece } }] } })
      }
      const left = Object.fromEntries(
        Object.entries(delta).filter(([key, value]) => key !== 'tool_calls' && typeof value !== 'string'),
      )
      parts.push({ delta: left })
      const unfinished = parts.map((part) => ({ ...each, choices: [{ ...rest, finish_reason: null, ...part }] }))
      return rest.finish_reason === null ? unfinished : [...unfinished, { ...each, choices: [{ ...rest, delta: {} }] }]
    })
  }

  for (const { name, chunks } of streams) {
    test(`the response is the same: ${name}`, () => {
      const whole = last(chunks)
      fc.assert(
        fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (cuts) => {
          expect(last(split(chunks, cuts))).toEqual(whole)
        }),
        { seed: 41, numRuns: 60 },
      )
    })
  }
})
