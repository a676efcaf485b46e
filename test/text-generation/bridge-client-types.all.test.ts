/** Runs with `--all`: compiles the corpus of responses against the types of client libraries. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { type Chunk, clientOf, dataOf, eventsIn, newBridge, streams } from './bridge-fixture.ts'
import { allTools, anyChunks, anyRequest, chunksOf, turn } from './bridge-random-streams.ts'
import { readClientTypes } from './client-types.ts'

const times = Number(process.env.SLUICE_RUNS ?? 1)

const types = readClientTypes()
const validate = types.validatorOf('ResponseStreamEvent')

/** The events of a bridged stream, which ends as its chunks do. */
const bridged = (chunks: readonly Chunk[], request: object): string => {
  const bridge = newBridge(request)
  const text = chunks.map((each) => bridge.push(dataOf(each))).join('')
  return text + (bridge.complete ? bridge.end() : bridge.fail('upstream broke off its answer'))
}

const problemsOf = (events: readonly ResponseStreamEvent[]): readonly string[] =>
  events.flatMap((event) => validate(event).map((problem) => `${event.type}: ${problem}`))

/** What is wrong with the order of the events: sequence numbers have no gaps, and items and parts begin, and end once. */
const disorderOf = (events: readonly ResponseStreamEvent[]): readonly string[] => {
  const problems: string[] = []
  const open = new Set<string>()
  const ended = new Set<string>()
  events.forEach((event, index) => {
    if (event.sequence_number !== index)
      problems.push(`${event.type} has number ${event.sequence_number}, not ${index}`)
    const {
      output_index: item,
      content_index: part,
      summary_index: summary,
    } = event as unknown as Readonly<Record<string, unknown>>
    if (item === undefined) return
    const partKey = `${item}.${summary === undefined ? part : `summary ${summary}`}`
    const key = event.type.includes('_part.') ? partKey : `${item}`
    if (event.type.endsWith('.added') && !event.type.includes('annotation')) {
      if (open.has(key) || ended.has(key)) problems.push(`${key} begins twice`)
      open.add(key)
      return
    }
    if (!open.has(`${item}`)) problems.push(`${event.type} outside item ${item}`)
    if ((part ?? summary) !== undefined && !open.has(partKey)) problems.push(`${event.type} outside part ${partKey}`)
    if (event.type.endsWith('_part.done') || event.type === 'response.output_item.done') {
      open.delete(key)
      ended.add(key)
    }
  })
  return problems
}

const checkWithClient = async (text: string): Promise<void> => {
  const events = eventsIn(text)
  const last = events.at(-1)
  const response = clientOf(text).responses.stream({ model: 'm', input: 'hi' }).finalResponse()
  if (last?.type === 'error') {
    await expect(response).rejects.toThrow('upstream broke off its answer')
    return
  }
  const { output, status } = await response
  if (!last || !('response' in last)) throw new Error('no terminal event')
  expect(status).toBe(last.response.status as never)
  expect(output).toMatchObject(last.response.output as never)
}

describe('every event has the type that OpenAI’s client gives it', () => {
  for (const { name, chunks } of streams) {
    for (const [form, request] of [
      ['as content', {}],
      ['as an encrypted summary', { reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] }],
    ] as const)
      test(`${name}, reasoning ${form}`, () => {
        const events = eventsIn(bridged(chunks, { tools: allTools, ...request }))
        expect(problemsOf(events)).toEqual([])
        expect(disorderOf(events)).toEqual([])
      })
  }

  test('random streams, also broken ones, and the client reads them', async () => {
    await fc.assert(
      fc.asyncProperty(anyChunks, anyRequest, async (chunks, request) => {
        const text = bridged(chunks, request)
        expect(problemsOf(eventsIn(text))).toEqual([])
        expect(disorderOf(eventsIn(text))).toEqual([])
        await checkWithClient(text)
      }),
      { seed: 13, numRuns: 200 * times },
    )
  })

  test('random turns with all kinds of tools, and the client reads them', async () => {
    await fc.assert(
      fc.asyncProperty(turn, fc.array(fc.nat(), { maxLength: 4 }), anyRequest, async (each, positions, request) => {
        const text = bridged(chunksOf(each, positions), request)
        expect(problemsOf(eventsIn(text))).toEqual([])
        await checkWithClient(text)
      }),
      { seed: 13, numRuns: 100 * times },
    )
  })

  test('and no members but those that OpenAI documents elsewhere', () => {
    expect([...types.undeclared].sort()).toEqual([
      // The API sends them; the types of the client omit them.
      'Logprob.bytes',
      'Response.frequency_penalty',
      'Response.presence_penalty',
      'Response.store',
      'ResponseCustomToolCall.status',
      'ResponseFunctionCallArgumentsDoneEvent.name',
      'TopLogprob.bytes',
    ])
  })

  test('as the types of the client are read right: a wrong event has problems', () => {
    const [event] = eventsIn(bridged(streams[0]?.chunks ?? [], {}))
    const delta = { type: 'response.output_text.delta', item_id: 'a', output_index: 0, content_index: 0, delta: 'x' }
    const rows: readonly (readonly [unknown, number])[] = [
      [event, 0],
      [{ ...delta, logprobs: [], sequence_number: 1 }, 0],
      [{ ...delta, sequence_number: 1 }, 1],
      [{ ...delta, logprobs: [{ token: 'x' }], sequence_number: 1 }, 1],
      [{ ...delta, logprobs: [], sequence_number: '1', item_id: 3 }, 2],
      [{ type: 'response.unknown' }, 1],
      [{ type: 'response.output_item.done', output_index: 0, sequence_number: 1, item: { type: 'x' } }, 1],
      [null, 1],
    ]
    for (const [value, problems] of rows) expect(validate(value)).toHaveLength(problems)
  })
})
