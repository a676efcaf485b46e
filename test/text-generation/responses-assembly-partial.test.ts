import { describe, expect, test } from 'bun:test'
import { readByAiSdk, readByOfficial } from './responses-assembly-clients.ts'
import { call, corpus, message, response, text } from './responses-assembly-corpus.ts'
import { assembled, eventsOf, type Members, read, wire, written } from './responses-assembly-streams.ts'

const partialOf = (stream: string, request?: unknown): Members =>
  JSON.parse(assembled(read(stream), request ? { request } : {}).partial())

const output = (response: Members) => response.output as readonly Members[]
const list = (value: unknown) => (Array.isArray(value) ? value : []) as readonly Members[]

/** The partial responses of each stream after each event. */
const cuts = corpus.map((sample) => {
  const events = read(sample.text)
  return { ...sample, partials: events.map((_, at) => assembled(events.slice(0, at + 1))) }
})

const unfinished = cuts.flatMap(({ name, response, partials }) =>
  partials
    .filter((assembly) => !assembly.complete)
    .map((assembly) => ({ name, response, partial: JSON.parse(assembly.partial()) as Members })),
)

const calls = /^(function|custom_tool|mcp|computer|apply_patch|shell|local_shell|image_generation)_call$|_request$/

describe('a partial response after any event', () => {
  test('has the status incomplete', () => {
    expect(unfinished.length).toBeGreaterThan(500)
    for (const { partial, name } of unfinished) {
      expect(partial, name).toMatchObject({
        object: 'response',
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        error: null,
        completed_at: null,
        usage: null,
        model: 'm-1',
      })
    }
  })

  test('has no unfinished item', () => {
    for (const { partial, name } of unfinished) {
      for (const { status } of output(partial))
        expect(['completed', 'incomplete', 'failed', 'none'], name).toContain(String(status ?? 'none'))
    }
  })

  test('has complete calls only', () => {
    let seen = 0
    for (const { partial, response, name } of unfinished) {
      for (const item of output(partial)) {
        if (!calls.test(String(item.type))) continue
        seen++
        expect(output(response), name).toContainEqual(item)
      }
    }
    expect(seen).toBeGreaterThan(50)
  })

  test('has a prefix of every text', () => {
    let seen = 0
    for (const { partial, response, name } of unfinished) {
      for (const item of output(partial)) {
        const whole = output(response).find(({ id }) => id === item.id) ?? output(response)[0]
        for (const member of ['content', 'summary']) {
          list(item[member]).forEach((part, at) => {
            const complete = list(whole?.[member])[at] ?? {}
            for (const words of ['text', 'refusal']) {
              if (part[words] === undefined) continue
              if (part[words]) seen++
              expect(String(complete[words]).startsWith(String(part[words])), name).toBe(true)
            }
          })
        }
      }
    }
    expect(seen).toBeGreaterThan(300)
  })

  test('has every finished item', () => {
    for (const { name, response, events } of corpus) {
      const done = events.findIndex(({ type }) => type === 'response.output_item.done')
      if (done === -1) continue
      const partial = partialOf(wire(events.slice(0, done + 1)))
      if (output(response)[0]?.status !== 'incomplete') expect(output(partial)[0], name).toEqual(output(response)[0])
    }
  })

  test('is accepted by OpenAI’s client', async () => {
    for (const { partial, name } of unfinished) {
      const read = await readByOfficial(JSON.stringify(partial))
      expect(read.status, name).toBe('incomplete')
      expect(typeof read.output_text, name).toBe('string')
    }
  })

  test('is accepted by the AI SDK if the complete response is', async () => {
    let seen = 0
    for (const { partials, response, name } of cuts) {
      const takesWhole = await readByAiSdk(JSON.stringify(response)).then(
        () => true,
        () => false,
      )
      if (!takesWhole) continue
      for (const assembly of partials) {
        seen++
        await readByAiSdk(assembly.partial()).catch((error) => {
          throw new Error(`${name}: ${assembly.partial()}`, { cause: error })
        })
      }
    }
    expect(seen).toBeGreaterThan(500)
  })

  test('is the complete response after the last event', () => {
    for (const { partials, response } of cuts) expect(JSON.parse(partials.at(-1)?.partial() ?? '')).toEqual(response)
  })
})

describe('the content of a partial response', () => {
  test('calls with partial or unfinished arguments are dropped', () => {
    const halves = [
      call('1', '{"a": 1}'),
      call('2', '{"a": '),
      call('3', ''),
      call('4', '{}', { status: 'incomplete' }),
      { id: 'c', type: 'custom_tool_call', call_id: 'x', name: 'run', input: 'rm -rf /', status: 'incomplete' },
      { id: 'm', type: 'mcp_call', name: 'n', server_label: 's', arguments: '[', status: 'completed' },
    ]
    const stream = wire(eventsOf(response(halves)).slice(0, -1))
    expect(output(partialOf(stream))).toEqual([call('1', '{"a": 1}')])
    const open = eventsOf(response([call('1', '{"a": 1}'), call('2', '{}')])).slice(0, -2)
    expect(open.at(-1)?.type).toBe('response.function_call_arguments.done')
    expect(output(partialOf(wire(open)))).toEqual([call('1', '{"a": 1}')])
  })

  test('items without content are kept as incomplete', () => {
    const search = { id: 'ws', type: 'web_search_call', status: 'in_progress', action: { type: 'search', query: 'q' } }
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...message([]), status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 1, item: search },
      { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws' },
    ]
    expect(output(partialOf(wire(events)))).toEqual([
      message([], { status: 'incomplete' }),
      { ...search, status: 'incomplete' },
    ])
  })

  test('finished items are unchanged beside an unfinished one', () => {
    const whole = response([message([text('One.')]), message([text('Two and more.')], { id: 'msg_2' })])
    const events = eventsOf(whole)
    const second = events.findLastIndex(({ type }) => type === 'response.output_text.delta')
    expect(output(partialOf(wire(events.slice(0, second))))).toEqual([
      message([text('One.')]),
      message([text('Two and ')], { id: 'msg_2', status: 'incomplete' }),
    ])
  })

  test('a lone surrogate is dropped', () => {
    const events = eventsOf(response([message([text('a\u{1f600}')])]), { split: (words) => words.split('') })
    const half = events.findLastIndex(({ type }) => type === 'response.output_text.delta')
    expect(output(partialOf(wire(events.slice(0, half))))).toMatchObject([{ content: [{ text: 'a' }] }])
    expect(output(partialOf(wire(events.slice(0, half + 1))))).toMatchObject([{ content: [{ text: 'a\u{1f600}' }] }])
  })

  test('reading it does not change the assembly', () => {
    const events = read(wire(eventsOf(response([message([text('One two three.')]), call('1', '{"a": 1}')]))))
    const assembly = assembled([])
    for (const event of events) {
      assembly.push(event)
      assembly.partial()
      void assembly.snapshot
    }
    expect(assembly.result()).toBe(assembled(events).result())
  })

  test('without events it is an empty response that repeats the request', () => {
    const request = {
      model: 'm-7',
      input: 'x',
      temperature: 0,
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f', strict: true }],
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      store: false,
      metadata: null,
    }
    expect(partialOf('', request)).toEqual({
      id: 'resp_made_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'incomplete',
      access_programs: null,
      background: false,
      completed_at: null,
      error: null,
      frequency_penalty: 0,
      incomplete_details: { reason: 'max_output_tokens' },
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      model: 'm-7',
      output: [],
      parallel_tool_calls: true,
      presence_penalty: 0,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: 'low', summary: null },
      safety_identifier: null,
      service_tier: 'auto',
      store: false,
      temperature: 0,
      text: { format: { type: 'text' }, verbosity: 'low' },
      tool_choice: 'auto',
      tools: [
        { type: 'web_search' },
        { type: 'function', name: 'f', description: null, parameters: null, strict: true },
      ],
      top_logprobs: 0,
      top_p: 1,
      truncation: 'disabled',
      usage: null,
      user: null,
    })
  })

  test('without events it repeats every field of the request that a response has', () => {
    const request = {
      ...{ instructions: 'be kind', max_output_tokens: 9, max_tool_calls: 2, metadata: { a: 'b' }, model: 'm-7' },
      ...{ parallel_tool_calls: false, previous_response_id: 'resp_0', prompt_cache_key: 'k', background: true },
      ...{ prompt_cache_options: { ttl: '1h' }, prompt_cache_retention: '24h', safety_identifier: 's', user: 'u' },
      ...{ reasoning: { effort: 'low', summary: 'auto' }, service_tier: 'flex', store: false, temperature: 0.5 },
      ...{ text: { format: { type: 'json_object' }, verbosity: 'high' }, tool_choice: 'none', top_logprobs: 3 },
      ...{ top_p: 0.5, truncation: 'auto', frequency_penalty: 0.5, presence_penalty: -1 },
    }
    expect(partialOf('', request)).toMatchObject(request)
  })

  test('without events and with a request that is no object it is an empty response', async () => {
    for (const request of [undefined, null, 'x', [], { model: 7 }]) {
      await readByAiSdk(assembled([], { request }).partial())
    }
  })

  test('its id is stable, and random by default', () => {
    const assembly = assembled([], { newId: undefined })
    expect(assembly.partial()).toBe(assembly.partial())
    expect(JSON.parse(assembly.partial()).id).toMatch(/^resp_[0-9a-f]{32}$/)
    expect(assembled([], { newId: undefined }).partial()).not.toBe(assembly.partial())
  })

  test('it contains text that arrived before response.created', () => {
    const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi', logprobs: [] }
    expect(partialOf(written(delta, 0))).toMatchObject({
      id: 'resp_made_2',
      output: [{ id: 'item_made_1', type: 'message', role: 'assistant', status: 'incomplete', content: [text('Hi')] }],
    })
  })
})
