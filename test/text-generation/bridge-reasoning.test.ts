import { describe, expect, test } from 'bun:test'
import { createSealedReasoning } from '../../plugins/text-generation/protocol/sealed-reasoning.ts'
import { bridge, chatOf, chunk, eventsIn, finish, last } from './bridge-fixture.ts'
import { dataOf, openApp, streaming } from './fixture.ts'

const thought = [
  chunk({ reasoning_content: 'Let me ' }),
  chunk({ reasoning_content: 'think.' }),
  chunk({ content: 'x' }),
]
const chunks = [...thought, finish('stop')]
const encrypted = { include: ['reasoning.encrypted_content'] }

describe('sealed reasoning', () => {
  const { seal, open } = createSealedReasoning(['secret one'])

  test('is opened for its user, and says nothing to others', () => {
    for (const text of ['', 'Let me think.', 'é😀\u0000'.repeat(10_000)]) {
      const sealed = seal(text, 'ann')
      expect(sealed).toMatch(/^[\w.-]+$/)
      expect(open(sealed, 'ann')).toBe(text)
      expect(open(sealed, 'bob')).toBeUndefined()
      expect(seal(text, 'ann')).not.toBe(sealed)
    }
  })

  test('that has changed at any place is not opened', () => {
    const sealed = seal('Let me think.', 'ann')
    for (let at = 0; at < sealed.length - 1; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      expect(open(changed, 'ann')).toBeUndefined()
      expect(open(sealed.slice(0, at), 'ann')).toBeUndefined()
    }
    for (const foreign of ['', 'abc', 'gAAAAABpz', 'sluice-reasoning-1.', 'sluice-reasoning-1.????'])
      expect(open(foreign, 'ann')).toBeUndefined()
  })

  test('is opened with each of the secrets, until its own is removed', () => {
    const sealed = seal('so', 'ann')
    expect(createSealedReasoning(['secret two', 'secret one']).open(sealed, 'ann')).toBe('so')
    expect(createSealedReasoning(['secret two']).open(sealed, 'ann')).toBeUndefined()
    const [one, other] = [createSealedReasoning(), createSealedReasoning()]
    expect(one.open(one.seal('so', 'ann'), 'ann')).toBe('so')
    expect(other.open(one.seal('so', 'ann'), 'ann')).toBeUndefined()
  })
})

describe('reasoning in a response', () => {
  test('is its content, and sealed only on request', () => {
    const [item] = last(chunks).output
    expect(item).toMatchObject({ summary: [], content: [{ type: 'reasoning_text', text: 'Let me think.' }] })
    expect(item).not.toHaveProperty('encrypted_content')
    expect(last(chunks, encrypted).output[0]).toEqual({
      ...item,
      encrypted_content: 'sealed Let me think.',
    } as never)
  })

  test('is a summary if the request asks for one', () => {
    const request = { reasoning: { summary: 'auto' } }
    expect(last(chunks, request).output[0]).toEqual({
      type: 'reasoning',
      id: 'rs_2',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Let me think.' }],
    })
    const at = { item_id: 'rs_2', output_index: 0, summary_index: 0 }
    const events = eventsIn(bridge(chunks, request)).filter(({ type }) => type.includes('reasoning'))
    expect(events.map(({ sequence_number: _, ...event }: { sequence_number: number }) => event)).toEqual([
      { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'Let me ' },
      { type: 'response.reasoning_summary_text.delta', ...at, delta: 'think.' },
      { type: 'response.reasoning_summary_text.done', ...at, text: 'Let me think.' },
      { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text: 'Let me think.' } },
    ] as never)
    expect(last(chunks, { reasoning: { generate_summary: 'concise' } }).output[0]).not.toHaveProperty('content')
    expect(last(chunks, { reasoning: { summary: null, effort: 'low' } }).output[0]).toHaveProperty('content')
  })
})

describe('reasoning of earlier turns', () => {
  const said = { role: 'assistant', content: 'x' }

  test('goes upstream if the gateway has sealed it for this user, and is dropped otherwise', async () => {
    const upstream = () => streaming([...chunks, '[DONE]'])
    const upstreams = [{ url: 'http://upstream.invalid/v1', chatOnly: true }]
    const identify = (request: Request) => ({ user: request.headers.get('authorization') ?? '' })
    const app = openApp(upstream, { upstreams, identify, secrets: ['0123456789abcdef'.repeat(4)] })
    const ask = async (input: unknown, user = 'ann') => {
      const request = { model: 'm', store: false, ...encrypted, stream: true, input }
      const response = await app.post('/responses', request, { headers: { authorization: user } })
      expect(response.status).toBe(200)
      const events = dataOf(await response.text())
        .slice(0, -1)
        .map((data) => JSON.parse(data))
      return events.at(-1).response.output
    }
    const [reasoning, message] = await ask('hi')
    expect(reasoning.encrypted_content).toStartWith('sluice-reasoning-1.')
    const { content: _, ...sealed } = reasoning
    const next = { role: 'user', content: 'go on' }
    const sentWith = async (item: object, user?: string) => {
      await ask([item, message, next], user)
      return app.asked.at(-1)?.json.messages[0]
    }
    expect(await sentWith(sealed)).toEqual({ ...said, reasoning_content: 'Let me think.' })
    expect(await sentWith(sealed, 'bob')).toEqual(said)
    const changed = sealed.encrypted_content.replace(/.$/, (end: string) => (end === 'A' ? 'B' : 'A'))
    expect(await sentWith({ ...sealed, encrypted_content: `${changed}AAAA` })).toEqual(said)
    expect(await sentWith({ ...sealed, encrypted_content: 'gAAAAABpz' })).toEqual(said)
  })

  test('does not go to an upstream with a Responses API, which could not read it', async () => {
    const response = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: [] }
    const app = openApp(() => Response.json(response))
    const sealed = createSealedReasoning().seal('so', 'ann')
    const own = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed }
    const foreign = { type: 'reasoning', summary: [], encrypted_content: 'gAAAAABpz' }
    const result = await app.post('/responses', { model: 'm', store: false, input: [own, foreign, said] })
    expect(result.status).toBe(200)
    expect(app.asked[0]?.json.input).toEqual([foreign, said])
  })

  test('that can be read is used where the sealed text cannot be opened', () => {
    const item = { type: 'reasoning', id: 'rs', encrypted_content: 'foreign' }
    const messagesOf = (more: object) => chatOf({ input: [{ ...item, summary: [], ...more }, said] }).messages
    const text = [{ type: 'summary_text', text: 'so' }]
    for (const more of [{ summary: text }, { content: text }])
      expect(messagesOf(more)).toEqual([{ ...said, reasoning_content: 'so' }])
    expect(messagesOf({})).toEqual([said])
  })

  test('is left out if the request wants only that of the current turn', () => {
    const item = { type: 'reasoning', id: 'rs', summary: [], content: [{ type: 'reasoning_text', text: 'so' }] }
    const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'a', output: 'x' }
    const input = [item, said, { role: 'user', content: 'q' }, item, call, output, item, said]
    const reasoningOf = (context: string) =>
      (chatOf({ input, reasoning: { context } }).messages as { reasoning_content?: string }[]).map(
        (message) => message.reasoning_content,
      )
    expect(reasoningOf('current_turn')).toEqual([undefined, undefined, 'so', undefined, 'so'])
    expect(reasoningOf('all_turns')).toEqual(['so', undefined, 'so', undefined, 'so'])
  })
})
