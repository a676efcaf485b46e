import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startEmulator } from '../../src/emulator/index.ts'
import { type Fixture, openFixture } from './fixture.ts'

const model = 'doubao-seed-emulated'

const clientOf = ({ url }: Fixture, { token }: Fixture['ann']) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })

/** The result of an attempt: the response or the error message. */
const outcome = async (attempt: Promise<unknown>): Promise<unknown> => {
  try {
    await attempt
    return 'answered'
  } catch (error) {
    if (error instanceof OpenAI.APIError) return [error.status, error.error]
    throw error
  }
}

const errorReply = (status: number, message: string, param: string | null = null, code: string | null = null) => [
  status,
  { message, type: 'invalid_request_error', param, code },
]

const previous = (id: string) =>
  errorReply(400, `Previous response with id '${id}' not found.`, 'previous_response_id', 'previous_response_not_found')

describe('OpenAI’s client of one user with ids of another user', () => {
  test('cannot continue a response, streaming or non-streaming, but the owner can', async () => {
    await using fixture = await openFixture()
    const [ann, bob] = [clientOf(fixture, fixture.ann), clientOf(fixture, fixture.bob)]
    const plain = await ann.responses.create({ model, input: 'my secret is mango' })
    const streamed = await ann.responses.stream({ model, input: 'my secret is kiwi' }).finalResponse()
    for (const { id } of [plain, streamed]) {
      fixture.calls()
      const request = { model, input: 'what is it?', previous_response_id: id }
      expect(await outcome(bob.responses.create(request))).toEqual(previous(id))
      expect(await outcome(bob.responses.create({ ...request, stream: true }))).toEqual(previous(id))
      const unknown = { ...request, previous_response_id: 'resp_none' }
      expect(await outcome(bob.responses.create(unknown))).toEqual(previous('resp_none'))
      expect(fixture.calls()).toEqual([])
      expect((await ann.responses.create(request)).previous_response_id).toBe(id)
    }
  })

  test('cannot read, delete, cancel or reference objects, but the owner can', async () => {
    await using fixture = await openFixture()
    const [ann, bob] = [clientOf(fixture, fixture.ann), clientOf(fixture, fixture.bob)]
    const { id, output } = await ann.responses.create({ model, input: 'my secret is mango' })
    const item = output[0]?.id ?? ''
    fixture.calls()
    const missing = errorReply(404, `Response with id '${id}' not found.`)
    expect(await outcome(bob.responses.retrieve(id))).toEqual(missing)
    expect(await outcome(bob.responses.retrieve(id, { stream: true }))).toEqual(missing)
    expect(await outcome(bob.responses.delete(id))).toEqual(missing)
    expect(await outcome(bob.responses.cancel(id))).toEqual(missing)
    expect(await outcome(bob.responses.inputItems.list(id))).toEqual(missing)
    const reference = { model, input: [{ type: 'item_reference' as const, id: item }] }
    expect(await outcome(bob.responses.create(reference))).toEqual(
      errorReply(404, `Item with id '${item}' not found.`, 'input[0].id'),
    )
    expect(fixture.calls()).toEqual([])

    expect(await ann.responses.retrieve(id)).toMatchObject({ id, status: 'completed', output })
    const items = (await ann.responses.inputItems.list(id, { limit: 5, order: 'asc' })).data
    expect(items).toMatchObject([{ type: 'message', role: 'user' }])
    expect(await outcome(ann.responses.create(reference))).toBe('answered')
    const listed = { model, input: [{ type: 'item_reference' as const, id: items[0]?.id ?? '' }] }
    // Not even the sender can: the id may be one that he gave to his own input message.
    for (const user of [ann, bob]) expect(await outcome(user.responses.create(listed))).toMatchObject([404, {}])
    expect(await outcome(ann.responses.cancel(id))).toMatchObject([
      400,
      { message: 'Cannot cancel a synchronous response.' },
    ])
    await ann.responses.delete(id)
    expect(await outcome(ann.responses.retrieve(id))).toEqual(missing)
    expect(fixture.emulator.text.objects.list().some((object) => object.id === id)).toBe(false)
  })

  test('cannot use objects that were created in the account without the gateway', async () => {
    await using fixture = await openFixture()
    const ann = clientOf(fixture, fixture.ann)
    const { objects, url, key } = fixture.emulator.text
    const account = new OpenAI({ baseURL: url, apiKey: key })
    const { id: conversation } = await account.conversations.create({ items: [{ role: 'user', content: 'secret' }] })
    const { id: response } = await account.responses.create({ model, input: 'secret' })
    const [file, container, store, prompt, audio] = (
      ['file', 'container', 'vector_store', 'prompt', 'audio'] as const
    ).map((kind) => objects.add({ kind }))
    const uses: Record<string, object> = {
      previous_response_id: { previous_response_id: response },
      conversation: { conversation },
      'conversation.id': { conversation: { id: conversation } },
      'input[0].content[0].file_id': { input: [{ role: 'user', content: [{ type: 'input_file', file_id: file }] }] },
      'tools[0].container': { tools: [{ type: 'code_interpreter', container }] },
      'tools[0].container.file_ids[0]': {
        tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [file] } }],
      },
      'tools[0].vector_store_ids[0]': { tools: [{ type: 'file_search', vector_store_ids: [store] }] },
      'prompt.id': { prompt: { id: prompt } },
    }
    fixture.calls()
    for (const [param, use] of Object.entries(uses)) {
      expect(await outcome(ann.responses.create({ model, input: 'x', ...use }))).toMatchObject([
        expect.any(Number),
        { param, type: 'invalid_request_error' },
      ])
    }
    const spoken = [{ role: 'assistant' as const, audio: { id: audio ?? '' } }]
    expect(await outcome(ann.chat.completions.create({ model, messages: spoken }))).toMatchObject([
      400,
      { param: 'messages[0].audio.id' },
    ])
    expect(fixture.calls()).toEqual([])
  })

  test('can use objects of a kind that the operator allows', async () => {
    await using fixture = await openFixture({ text: { allowedFields: ['file_id', 'conversation'] } })
    const { objects, url, key } = fixture.emulator.text
    const file = objects.add({ kind: 'file', name: 'the-file' })
    const { id: conversation } = await new OpenAI({ baseURL: url, apiKey: key }).conversations.create()
    const input = [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: file }] }]
    for (const user of [fixture.ann, fixture.bob]) {
      const { output_text } = await clientOf(fixture, user).responses.create({ model, input, conversation })
      expect(output_text).toContain('the-file')
    }
  })
})

describe('an id that a caller has received works', () => {
  test('also when the caller disconnected after the first event of the stream', async () => {
    await using fixture = await openFixture({ emulator: { text: { msPerDelta: 20 } } })
    const ann = clientOf(fixture, fixture.ann)
    const stream = await ann.responses.create({ model, input: '100 tokens', stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      break
    }
    expect(await fixture.store.findTextObject(fixture.ann.id, 'response', id, Date.now())).toMatchObject({ id })
    expect(await outcome(clientOf(fixture, fixture.bob).responses.retrieve(id))).toMatchObject([404, {}])
  })

  test('also that of a response which the gateway keeps, and for its user only', async () => {
    const emulator = await startEmulator()
    await using bridged = await openFixture({ emulator, text: { upstreams: [{ ...emulator.text, chatOnly: true }] } })
    const [ann, bob] = [clientOf(bridged, bridged.ann), clientOf(bridged, bridged.bob)]
    const { id } = await ann.responses.create({ model, input: 'hi' })
    expect(await outcome(ann.responses.retrieve(id))).toBe('answered')
    expect(await outcome(bob.responses.retrieve(id))).toEqual(errorReply(404, `Response with id '${id}' not found.`))
    const more = { model, input: 'hi', previous_response_id: id }
    expect(await outcome(ann.responses.create(more))).toBe('answered')
    expect(await outcome(bob.responses.create(more))).toMatchObject([400, { code: 'previous_response_not_found' }])
    expect(await outcome(ann.responses.create({ model, input: 'hi', background: true }))).toMatchObject([
      ...[400, { param: 'background', code: 'unsupported_parameter' }],
    ])
    await emulator.stop()
  })
})

test('an unauthenticated caller receives no information', async () => {
  await using fixture = await openFixture()
  const { id } = await clientOf(fixture, fixture.ann).responses.create({ model, input: 'hi' })
  for (const [method, below] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/cancel'],
    ['GET', '/input_items'],
  ] as const) {
    const responses = await Promise.all(
      [id, 'resp_none'].map(async (each) => {
        const response = await fetch(`${fixture.url}/v1/responses/${each}${below}`, { method })
        return [response.status, await response.text()]
      }),
    )
    expect(responses[0]).toEqual(responses[1])
    expect(responses[0]?.[0]).toBe(401)
  }
})
