/** Runs with `--all`: many random streams. The other tests of messages have one stream of each form. */
import { describe, expect, test } from 'bun:test'
import type { Message } from '@anthropic-ai/sdk/resources/messages'
import fc from 'fast-check'
import { chunk, streaming, usageChunk } from './fixture.ts'
import { minimal, openMessages } from './messages-fixture.ts'

const seed = 20_261_122
const times = Number(process.env.SLUICE_RUNS ?? 1)
const request = { ...minimal, thinking: { type: 'adaptive' as const } }

const json = fc.dictionary(fc.string({ maxLength: 4, unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })

/** What a model generates, in pieces: texts and reasoning, and tool calls whose arguments come in between. */
interface Generation {
  readonly deltas: readonly object[]
  readonly finish: string
  readonly calls: readonly { readonly name: string; readonly input: object }[]
}

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
const textDelta = fc.record({ kind: fc.constantFrom('content', 'reasoning_content', 'reasoning'), text })

/** Cuts a text at random positions. */
const pieces = (whole: string, cuts: readonly number[]): string[] => {
  const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return at.slice(1).map((end, index) => whole.slice(at[index], end))
}

const generation: fc.Arbitrary<Generation> = fc
  .record({
    texts: fc.array(textDelta, { maxLength: 8 }),
    calls: fc.array(
      fc.record({ name: fc.constantFrom('a', 'b', 'c'), input: json, cuts: fc.array(fc.nat(), { maxLength: 4 }) }),
      {
        maxLength: 4,
      },
    ),
    order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
    empty: fc.boolean(),
    finish: fc.constantFrom('stop', 'tool_calls', 'content_filter'),
  })
  .map(({ texts, calls, order, empty, finish }) => {
    const queues: object[][] = [
      texts.map(({ kind, text }) => ({ [kind]: text })),
      ...calls.map(({ name, input, cuts }, index) => {
        const args = empty && Object.keys(input).length === 0 ? '' : JSON.stringify(input)
        const [first = '', ...rest] = pieces(args, cuts)
        return [
          { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: first } }] },
          ...rest.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ]
      }),
    ]
    const deltas: object[] = []
    for (let step = 0; queues.some((queue) => queue.length > 0); step++) {
      const open = queues.filter((queue) => queue.length > 0)
      deltas.push(open[(order[step % order.length] as number) % open.length]?.shift() as object)
    }
    return { deltas, finish, calls }
  })

const answer = ({ deltas, finish }: Generation) =>
  streaming([...deltas.map((delta) => chunk(delta)), chunk({}, finish), usageChunk, '[DONE]'])

/** A message without its id, and without signatures, which are encrypted with a random number. */
const comparable = (message: Message): unknown =>
  JSON.parse(JSON.stringify(message), (key, value) =>
    ['id', 'signature', 'parsed_output'].includes(key) ? undefined : value,
  )

describe('Random chat streams:', () => {
  test('the client assembles from the events what a call without a stream returns', async () => {
    await fc.assert(
      fc.asyncProperty(generation, async (given) => {
        const { client } = openMessages(() => answer(given))
        const whole = await client.messages.create(request)
        const streamed = await client.messages.stream(request).finalMessage()
        expect(comparable(streamed)).toEqual(comparable(whole))
        const uses = whole.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
        const byId = given.calls.map((_, index) => uses.find(({ id }) => id === `call_${index}`))
        expect(byId.map((use) => [use?.name, use?.input])).toEqual(
          given.calls.map(({ name, input }) => [name, JSON.parse(JSON.stringify(input))]),
        )
      }),
      { seed, numRuns: 100 * times },
    )
  })

  test('the message goes back to the upstream as what the model generated', async () => {
    await fc.assert(
      fc.asyncProperty(generation, async (given) => {
        const app = openMessages(() => answer(given))
        const { content } = await app.client.messages.stream(request).finalMessage()
        const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
        const results = ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: `result of ${id}` }))
        await app.client.messages.create({
          ...request,
          messages: [
            ...minimal.messages,
            { role: 'assistant', content },
            { role: 'user', content: [...results, { type: 'text', text: 'and?' }] },
          ],
        })
        const [, assistant, ...rest] = app.asked[1]?.json.messages ?? []
        const texts = (type: 'text' | 'thinking') =>
          content.flatMap((block) => (block.type === type && type in block ? [String(Reflect.get(block, type))] : []))
        expect(assistant.content ?? '').toBe(texts('text').join('\n\n'))
        expect(assistant.reasoning_content ?? '').toBe(texts('thinking').join('\n\n'))
        expect(
          (assistant.tool_calls ?? []).map(
            ({ id, function: { arguments: args } }: { id: string; function: { arguments: string } }) => [
              id,
              JSON.parse(args),
            ],
          ),
        ).toEqual(content.flatMap((block) => (block.type === 'tool_use' ? [[block.id, block.input]] : [])))
        expect(rest.map(({ role, tool_call_id: id }: { role: string; tool_call_id?: string }) => id ?? role)).toEqual([
          ...ids,
          'user',
        ])
      }),
      { seed, numRuns: 100 * times },
    )
  })

  test('every block starts, ends before the next one starts, and all indexes are in order', async () => {
    await fc.assert(
      fc.asyncProperty(generation, async (given) => {
        const { client } = openMessages(() => answer(given))
        let open = -1
        let next = 0
        for await (const event of await client.messages.create({ ...request, stream: true })) {
          if (event.type === 'content_block_start') {
            expect([open, event.index]).toEqual([-1, next])
            open = next++
          } else if (event.type === 'content_block_delta') expect(event.index).toBe(open)
          else if (event.type === 'content_block_stop') {
            expect(event.index).toBe(open)
            open = -1
          }
        }
        expect(open).toBe(-1)
      }),
      { seed, numRuns: 75 * times },
    )
  })
})
