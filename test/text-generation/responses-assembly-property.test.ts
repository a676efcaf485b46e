import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { response } from './responses-assembly-corpus.ts'
import { assembled, eventsOf, type Members, read, type Split, wire } from './responses-assembly-streams.ts'

const seed = 40_404
const words = fc.string({ unit: 'grapheme', maxLength: 24 })
const id = fc.string({ unit: fc.constantFrom(...'abcdef0123456789'), minLength: 6, maxLength: 10 })
const json = fc.jsonValue({ maxDepth: 2 })
const extra = fc.dictionary(fc.constantFrom('vendor', 'mood', '__proto__', 'x'), json, { maxKeys: 2 })
const some = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 3 })

const logprob = fc.record({
  token: words,
  logprob: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: some(fc.nat(255)),
  top_logprobs: fc.constant([]),
})
/** Logprobs only with text: without text there is no delta for them. */
const part = fc.oneof(
  fc
    .record({
      type: fc.constant('output_text'),
      text: words,
      annotations: some(json.filter(Boolean)),
      logprobs: some(logprob),
    })
    .map((told) => (told.text === '' ? { ...told, logprobs: [] } : told)),
  fc.record({ type: fc.constant('refusal'), refusal: words }),
)
const written = (type: string) => some(fc.record({ type: fc.constant(type), text: words }))
const status = fc.constantFrom('completed', 'incomplete')
const args = json.map((value) => JSON.stringify(value))
const plain = (type: string, more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ id, type: fc.constant(type), status, ...more })
const called = { call_id: id, name: words }

const item = fc.oneof(
  plain('message', { role: fc.constant('assistant'), content: some(part) }),
  fc.record({
    id,
    type: fc.constant('reasoning'),
    summary: written('summary_text'),
    content: written('reasoning_text'),
  }),
  plain('function_call', { ...called, arguments: args }),
  fc.record({ id, type: fc.constant('custom_tool_call'), ...called, input: words }),
  plain('mcp_call', { name: words, server_label: words, arguments: args, output: words, error: fc.constant(null) }),
  fc.record({ id, type: fc.constant('mcp_list_tools'), server_label: words, tools: some(json) }),
  plain('web_search_call', { action: json }),
  plain('file_search_call', { queries: some(words), results: some(json) }),
  plain('code_interpreter_call', { code: words, container_id: id, outputs: some(json) }),
  plain('image_generation_call', { result: words }),
  plain('shell_call', { call_id: id, action: fc.record({ commands: some(words) }), environment: json }),
  plain('shell_call_output', {
    call_id: id,
    output: some(fc.record({ stdout: words, stderr: words, outcome: json })),
  }),
  fc.record({ id, type: fc.constant('compaction'), encrypted_content: words }),
  plain('item_of_tomorrow', { content: json, depth: json }),
)

const output = fc
  .array(fc.tuple(item, extra), { maxLength: 6 })
  .map((items) => items.map(([members, more], at) => ({ ...more, ...members, id: `${members.id}_${at}` }) as Members))

const answer = fc
  .tuple(output, extra, fc.constantFrom('completed', 'incomplete', 'failed'))
  .map(([items, more, ended]) => ({ ...more, ...response(items, { status: ended }) }))

/** Splits between any two UTF-16 code units, also within a surrogate pair. */
const splitAt =
  (sizes: readonly number[]): Split =>
  (text) => {
    const deltas: string[] = []
    for (let from = 0, nth = 0; from < text.length; nth++) {
      const to = from + (sizes[nth % sizes.length] ?? 1)
      deltas.push(text.slice(from, to))
      from = to
    }
    return deltas
  }

const chunked = (bytes: Uint8Array, sizes: readonly number[]): readonly Uint8Array[] => {
  const chunks: Uint8Array[] = []
  for (let from = 0, nth = 0; from < bytes.length; nth++) {
    const to = from + (sizes[nth % sizes.length] ?? 1)
    chunks.push(bytes.subarray(from, to))
    from = to
  }
  return chunks
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

describe('any response', () => {
  test('is assembled from any sequence of its events and any split', () => {
    fc.assert(
      fc.property(answer, sizes, sizes, fc.boolean(), (whole, deltas, chunks, withoutOutput) => {
        const text = wire(eventsOf(whole, { split: splitAt(deltas), withoutOutput }), 'data: [DONE]\n\n')
        const cut = chunked(new TextEncoder().encode(text), chunks)
        const assembly = assembled(read(cut))
        expect(assembly.complete).toBe(true)
        expect(JSON.parse(assembly.result())).toEqual(JSON.parse(JSON.stringify(whole)))
      }),
      { seed, numRuns: 500 },
    )
  })

  test('is assembled from deltas alone', () => {
    const told = fc.array(
      fc.oneof(
        plain('message', { role: fc.constant('assistant'), content: some(part) }),
        plain('function_call', { ...called, arguments: args }),
      ),
      { maxLength: 4 },
    )
    fc.assert(
      fc.property(told, sizes, (items, deltas) => {
        const whole = response(
          items.map((members, at) => ({ ...(members as Members), id: `i_${at}`, status: 'completed' })),
        )
        const events = eventsOf(whole, { split: splitAt(deltas), withoutOutput: true })
        const bare = events.filter(
          ({ type }) =>
            !/^response\.(output_text|refusal|function_call_arguments|content_part|output_item)\.done$/.test(type),
        )
        expect(JSON.parse(assembled(read(wire(bare))).result())).toEqual(JSON.parse(JSON.stringify(whole)))
      }),
      { seed, numRuns: 300 },
    )
  })

  test('as a partial response has complete calls and prefixes of texts', () => {
    fc.assert(
      fc.property(answer, sizes, fc.nat(), (whole, deltas, at) => {
        const events = eventsOf(whole, { split: splitAt(deltas) })
        const partial = JSON.parse(assembled(read(wire(events.slice(0, at % events.length)))).partial())
        const finished = JSON.parse(JSON.stringify(whole.output)) as readonly Members[]
        for (const item of partial.output as readonly Members[]) {
          expect(item.status).not.toBe('in_progress')
          const same = finished.find(({ id }) => id === item.id)
          if (/call/.test(String(item.type)) && !/search|interpreter|output/.test(String(item.type)))
            expect(item).toEqual(same ?? {})
          if (item.type !== 'message') continue
          ;(item.content as readonly Members[]).forEach((part, nth) => {
            const complete = (same?.content as readonly Members[] | undefined)?.[nth] ?? {}
            for (const member of ['text', 'refusal']) {
              if (part[member] !== undefined) expect(String(complete[member])).toStartWith(String(part[member]))
            }
          })
        }
      }),
      { seed, numRuns: 500 },
    )
  })
})
