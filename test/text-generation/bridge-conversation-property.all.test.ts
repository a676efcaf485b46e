/** Runs with `--all`: random conversations, sent through the bridge and back. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ResponseOutputItem } from 'openai/resources/responses/responses'
import { readJson } from '../../plugins/shared/json/json.ts'
import { dataOf, eventsIn, newBridge } from './bridge-fixture.ts'
import { allTools, chunksOf, type Turn, turn } from './bridge-random-streams.ts'
import { toChatRequest } from './in-one-step.ts'

type Item = Readonly<Record<string, unknown>>

/** How a client sends the items of a response again. */
type Resend = (item: Item) => Item

const sealed = 'sealed '

const resends: Readonly<Record<string, Resend>> = {
  'everything as it came': (item) => item,
  // As codex and the AI SDK do without storage: see the requests in their own tests.
  'encrypted reasoning without its text': ({ content, ...item }) =>
    item.type === 'reasoning' ? { ...item, content: null } : { ...item, content },
  'no ids': ({ id: _, status: __, type, ...item }) => ({ ...(type === 'message' ? {} : { type }), ...item }),
}

/** The output of a call, in the form that its item requires, and as text. */
const outputOf = (item: ResponseOutputItem): { readonly item: Item; readonly text: string } | undefined => {
  if (item.type === 'function_call')
    return { item: { type: 'function_call_output', call_id: item.call_id, output: 'done 😀' }, text: 'done 😀' }
  if (item.type === 'custom_tool_call') {
    const output = [{ type: 'input_text', text: 'done' }]
    return { item: { type: 'custom_tool_call_output', call_id: item.call_id, output }, text: 'done' }
  }
  if (item.type === 'local_shell_call')
    return { item: { type: 'local_shell_call_output', id: item.call_id, output: 'done' }, text: 'done' }
  if (item.type === 'tool_search_call')
    return {
      item: { type: 'tool_search_output', call_id: item.call_id, execution: 'client', tools: [allTools[0]] },
      text: '{"tools":["weather"]}',
    }
  return undefined
}

/** The message that a chat completion holds for a turn. */
const messageOf = ({ reasoning, content, calls }: Turn, prefix: string): object => ({
  role: 'assistant',
  content: content === '' && calls.length > 0 ? null : content,
  ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  ...(calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(([name, args], index) => ({
          id: `${prefix}${index}`,
          type: 'function',
          function: { name, arguments: args },
        })),
      }),
})

const conversation = fc.record({
  turns: fc.array(fc.tuple(turn, fc.array(fc.nat(), { maxLength: 3 })), { minLength: 1, maxLength: 5 }),
  resend: fc.constantFrom(...Object.keys(resends)),
  summary: fc.constantFrom(null, 'auto'),
  addsTools: fc.boolean(),
})

const chatOf = (request: object) =>
  toChatRequest(readJson(JSON.stringify(request)), {
    openReasoning: (text) => (text.startsWith(sealed) ? text.slice(sealed.length) : undefined),
  }).json.value() as { readonly messages: object[]; readonly tools: unknown }

test('a conversation goes through the bridge and back: what came from the model goes to it again', () => {
  let calls = 0
  fc.assert(
    fc.property(conversation, ({ turns, resend, summary, addsTools }) => {
      const asked = { role: 'user', content: 'go on' }
      const settings = { reasoning: { summary }, include: ['reasoning.encrypted_content'] }
      const tools = addsTools ? {} : { tools: allTools }
      const input: Item[] = addsTools ? [{ type: 'additional_tools', role: 'developer', tools: allTools }] : []
      const expected: object[] = []
      let definitions: unknown
      turns.forEach(([each, positions], nth) => {
        if (nth === 0 || turns[nth - 1]?.[0].calls.length === 0) {
          input.push(asked)
          expected.push(asked)
        }
        const request = { model: 'm', input, ...settings, ...tools }
        const chat = chatOf(request)
        expect(chat.messages).toEqual(expected)
        definitions ??= chat.tools
        expect(chat.tools).toEqual(definitions)

        const bridge = newBridge(JSON.stringify(request))
        const prefix = `call_${nth}_`
        const text = chunksOf(each, positions, prefix).map((piece) => bridge.push(dataOf(piece)))
        const last = eventsIn(text.join('') + bridge.end()).at(-1)
        if (last?.type !== 'response.completed') throw new Error('the response is not complete')
        const { output } = last.response
        input.push(...output.map((item) => (resends[resend] as Resend)(item as unknown as Item)))
        expected.push(messageOf(each, prefix))
        for (const item of output) {
          const done = outputOf(item)
          if (!done) continue
          calls++
          input.push(done.item)
          expected.push({ role: 'tool', tool_call_id: done.item.call_id ?? done.item.id, content: done.text })
        }
      })
      expect(chatOf({ model: 'm', input, ...settings, ...tools }).messages).toEqual(expected)
    }),
    { seed: 13, numRuns: 500 },
  )
  expect(calls).toBeGreaterThan(1000)
})
