import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { reducers } from '../../plugins/text-generation/responses/event-types.ts'
import { call, corpus, message, response, text } from './responses-assembly-corpus.ts'
import { delta, ending, plain, stream } from './responses-assembly-plain-text.ts'
import {
  assembled,
  type Event,
  eventsOf,
  type Members,
  read,
  resultOf,
  wire,
  written,
} from './responses-assembly-streams.ts'

/** The types of all events in the types of OpenAI's client. */
const declared = (): readonly string[] => {
  const file = new URL('./resources/responses/responses.d.ts', import.meta.resolve('openai'))
  const source = readFileSync(file, 'utf8')
  const union = /export type ResponseStreamEvent = ([^;]+);/.exec(source)?.[1] ?? ''
  return union.split('|').map((name) => {
    const body = source.split(`export interface ${name.trim()} {`)[1]?.split('\n}')[0]
    return /^ {4}type: '([^']+)';/m.exec(body ?? '')?.[1] ?? `${name.trim()} has no type`
  })
}

const thought = { type: 'reasoning_text', text: 'Hm, well.' }
const printed = { stdout: 'bin etc', stderr: 'oh no', outcome: { type: 'exit', exit_code: 0 } }
const mcp = {
  id: 'm',
  type: 'mcp_call',
  status: 'completed',
  server_label: 's',
  name: 'n',
  arguments: '{"a": 1}',
  output: null,
  error: null,
}
const shell = [
  { id: 'sh', type: 'shell_call', call_id: 'y', action: { commands: ['ls -l', 'rm x'] }, environment: null },
  { id: 'so', type: 'shell_call_output', call_id: 'y', max_output_length: null, output: [printed] },
]

describe('the events of the protocol', () => {
  test('every event type of OpenAI’s client is known', () => {
    expect(declared()).toHaveLength(59)
    expect(declared().filter((type) => !reducers.has(type))).toEqual([])
  })

  test('the corpus has every event type of OpenAI’s client except the error', () => {
    const used = new Set(corpus.flatMap(({ events }) => events.map(({ type }) => type)))
    expect(declared().filter((type) => !used.has(type))).toEqual(['error'])
  })
})

describe('the assembled response equals the non-streaming response', () => {
  for (const { name, text: bytes, response } of corpus) {
    test(name, () => {
      expect(resultOf(bytes)).toEqual(response)
    })
  }

  test('the terminal event overrides earlier events', () => {
    const other = response([message([text('Something else.')])])
    expect(resultOf(stream.replaceAll('there', 'where') + ending(other))).toEqual(
      JSON.parse(JSON.stringify(plain).replaceAll('there', 'where')),
    )
    expect(resultOf(wire(eventsOf(plain).slice(0, -1)) + ending(other))).toEqual(other)
  })

  test('a terminal event without a response ends the assembled one', () => {
    const answer = JSON.parse(
      assembled(read(wire([...eventsOf(plain).slice(0, -1), { type: 'response.completed' }]))).result(),
    )
    expect(answer).toEqual({ ...plain, completed_at: null, usage: undefined })
  })

  test('members that the terminal event omits come from earlier events, except usage', () => {
    const [created, ...rest] = eventsOf(plain).slice(0, -1) as [Event, ...Event[]]
    const counting = { ...created, response: { ...(created.response as Members), usage: { total_tokens: 1 } } }
    const answer = resultOf(wire([counting, ...rest]) + ending({ id: 'resp_1', status: 'completed' }))
    expect(answer).toEqual({ ...plain, completed_at: null, usage: undefined })
  })

  test('usage comes from the terminal event', () => {
    expect(assembled(read(stream)).usage).toEqual(plain.usage as object)
    expect(assembled(read(wire(eventsOf(plain).slice(0, -1)))).usage).toBeUndefined()
    expect(assembled(read(ending(response([], { usage: null })))).usage).toBeUndefined()
  })

  test('before the end the latest snapshot counts, except its usage', () => {
    const begun = { ...plain, output: [], status: 'in_progress' }
    const resolved = { type: 'response.in_progress', response: { ...begun, model: 'm-1-2026' } }
    const events = [{ type: 'response.created', response: begun }, resolved]
    expect(JSON.parse(assembled(read(wire(events))).partial())).toMatchObject({ model: 'm-1-2026', usage: null })
  })

  test('a failed response is a result, not an error', () => {
    const failed = response([], { status: 'failed', error: { code: 'server_error', message: 'no' } })
    expect(resultOf(ending(failed, 'response.failed'))).toEqual(failed)
  })

  test('output_text is not added, because the client computes it', () => {
    const events = eventsOf(response([message([text('a')])], { output_text: '' })).slice(0, -1)
    const assembly = assembled(read(wire(events)))
    expect(JSON.parse(assembly.partial())).not.toHaveProperty('output_text')
  })

  test('the full arguments override the deltas', () => {
    const answer = response([call('1', '{"a":1}')])
    const events = eventsOf(answer, { withoutOutput: true })
    const forged = (type: string, more: Members) =>
      events.map((event) => (event.type === type ? { ...event, ...more } : event))
    expect(resultOf(wire(forged('response.function_call_arguments.delta', { delta: '{"b' })))).toEqual(answer)
    const bare = events.filter(({ type }) => !/arguments.delta|item.done/.test(type))
    expect(resultOf(wire(bare))).toEqual(answer)
    const late = forged('response.function_call_arguments.done', { arguments: '{"c":1}' })
    expect(resultOf(wire(late.filter(({ type }) => type !== 'response.output_item.done')))).toMatchObject({
      output: [{ arguments: '{"c":1}', status: 'completed' }],
    })
  })

  test('deltas alone are sufficient', () => {
    const answer = response([
      { id: 'rs', type: 'reasoning', summary: [{ type: 'summary_text', text: 'I looked.' }], content: [thought] },
      message([text('Hello there.'), { type: 'refusal', refusal: 'Not that.' }]),
      call('1', '{"a": 1}'),
      { id: 'c', type: 'custom_tool_call', call_id: 'x', name: 'run', input: 'a b' },
      mcp,
      { id: 'ci', type: 'code_interpreter_call', status: 'completed', container_id: 'k', code: '1 + 1', outputs: null },
      ...shell,
    ])
    const bare = eventsOf(answer, { withoutOutput: true }).filter(({ type }) => !type.endsWith('.done'))
    expect(resultOf(wire(bare))).toEqual(answer)
    const { output } = resultOf(wire(bare.filter(({ type }) => !type.endsWith('.added')))) as { output: Members[] }
    expect(output.map(({ type }) => type)).toEqual((answer.output as Members[]).map(({ type }) => type))
    expect(output[6]).toMatchObject({ action: { commands: ['ls -l', 'rm x'] } })
    expect(output[7]).toMatchObject({ output: (shell[1] as Members).output as Members[] })
  })

  test('an empty list does not override the logprobs of deltas', () => {
    const logprobs = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }]
    const told = delta({ output_index: 0, logprobs })
    const done = written({ type: 'response.output_text.done', output_index: 0, text: 'x', logprobs: [] }, 2)
    expect(JSON.parse(assembled(read(told + done)).partial()).output[0].content[0].logprobs).toEqual(logprobs)
  })

  test('an item has the announced type, even if the announcement follows the first delta', () => {
    const events = eventsOf(plain, { withoutOutput: true }).filter(({ type }) => !/\.done$/.test(type))
    const added = events.findIndex(({ type }) => type === 'response.output_item.added')
    const late = [
      ...events.slice(0, added),
      ...events.slice(added + 1, -1),
      events[added] as Event,
      events.at(-1) as Event,
    ]
    expect(resultOf(wire(late))).toEqual(plain)
    const renamed = late.map((event) => ('item_id' in event ? { ...event, item_id: 'other' } : event))
    expect(resultOf(wire(renamed))).toEqual(plain)
  })

  test('items with the same index are separated by id', () => {
    const answer = response([
      message([text('One.')]),
      message([text('Two.')], { id: 'msg_2' }),
      call('1', '{}'),
      call('2', '[]'),
    ])
    for (const left of [/./, /^(?!.*item\.added)/, /^(?!.*item\.done)/]) {
      const events = eventsOf(answer, { withoutOutput: true })
        .filter(({ type }) => left.test(type))
        .map((event) => ('output_index' in event ? { ...event, output_index: 0 } : event))
      expect(resultOf(wire(events))).toEqual(answer)
    }
  })

  test('items without an index are in the order of arrival', () => {
    const answer = response([message([text('One.')]), message([text('Two.')], { id: 'msg_2' }), call('1', '{}')])
    const events = eventsOf(answer, { withoutOutput: true }).map(({ output_index: _, ...event }) => event as Event)
    expect(resultOf(wire(events))).toEqual(answer)
    const lone = response([{ ...call('1', '{"a": 1}'), id: undefined }])
    const only = eventsOf(lone, { withoutOutput: true }).map(({ output_index: _, ...event }) => event as Event)
    expect(resultOf(wire(only))).toEqual(JSON.parse(JSON.stringify(lone)))
    const anonymous = events.filter(({ type }) => !/added|delta|text|part|arguments/.test(type))
    const nameless = anonymous.map((event) =>
      'item' in event ? { ...event, item: { ...(event.item as Members), id: undefined } } : event,
    )
    expect((resultOf(wire(nameless)) as { output: unknown[] }).output).toHaveLength(3)
  })

  test('skipped indices leave no holes', () => {
    const assembly = assembled(
      read(delta({ output_index: 7, content_index: 5, item_id: 'a' }) + delta({ output_index: 3, item_id: 'b' })),
    )
    const { output } = JSON.parse(assembly.partial())
    expect(output).toMatchObject([
      { id: 'b', content: [{ text: 'x' }] },
      { id: 'a', content: [{ text: 'x' }] },
    ])
    expect(output[1].content).toHaveLength(1)
  })

  test('items of a snapshot without further events are kept', () => {
    const created = written({ type: 'response.created', response: { ...plain, status: 'in_progress' } }, 0)
    expect(resultOf(created + ending({ status: 'completed' }))).toMatchObject({ output: plain.output as unknown[] })
  })

  test('numbers keep their text', () => {
    const numbers = '[12345678901234567890,1.10,1e400,-0,0.1000000000000000055511151231257827]'
    const events = wire(
      eventsOf(response([message([text('a', { vendor: 'NUMBERS' })])], { vendor: 'NUMBERS' }), { withoutOutput: true }),
    )
    const answer = assembled(read(events.replaceAll('"NUMBERS"', numbers))).result()
    expect(answer.split(numbers)).toHaveLength(3)
  })

  test('keys such as __proto__ are ordinary keys', () => {
    const odd = '{"__proto__":{"type":"x","evil":1},"constructor":1,"toString":2}'
    const events = wire(
      eventsOf(response([message([text('a', { odd: 'ODD' })])], { odd: 'ODD' }), { withoutOutput: true }),
    )
    const answer = assembled(read(events.replaceAll('"ODD"', odd))).result()
    expect(answer.split(odd)).toHaveLength(3)
    const [type] = ['__proto__', 'constructor', 'toString'].map((type) => written({ type }, 1))
    expect(resultOf(type + stream)).toEqual(plain)
    expect(({} as Members).evil).toBeUndefined()
  })

  test('data that is not an object is ignored', () => {
    expect(resultOf(`data: null\n\ndata: [1]\n\ndata: "a"\n\ndata: 1e400\n\ndata:  \n\n${stream}`)).toEqual(plain)
  })

  test('invalid events are harmless', () => {
    const nonsense = [null, 1, 'x', [], {}, { id: 1 }]
    const places = [
      'response',
      'item',
      'part',
      'delta',
      'text',
      'annotation',
      'logprobs',
      'output',
      'command',
      'arguments',
    ]
    const types = [...reducers.keys()].filter((type) => !/^error$|completed$|failed$|incomplete$/.test(type))
    const events = types.flatMap((type) =>
      nonsense.map((value) => ({
        type,
        output_index: 900,
        ...Object.fromEntries(places.map((place) => [place, value])),
      })),
    )
    const raw = wire(events).replaceAll('"x"', '1e400')
    for (const noise of [wire(events), raw]) {
      expect(resultOf(noise + stream)).toEqual(plain)
      expect(JSON.parse(assembled(read(noise)).partial())).toMatchObject({ object: 'response', status: 'incomplete' })
    }
  })

  test('a stream of 10 MB is assembled', () => {
    const long = 'abcdefg '.repeat(60_000)
    const answer = response([message([text(long)]), call('1', JSON.stringify({ long }))])
    const bytes = wire(eventsOf(answer, { withoutOutput: true }))
    expect(bytes.length).toBeGreaterThan(10_000_000)
    expect(resultOf(bytes)).toEqual(answer)
  })
})
