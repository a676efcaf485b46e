import { describe, expect, test } from 'bun:test'
import { chunk, streaming } from './fixture.ts'
import { answering, type Body, bodyOf, lastMessages, respond, storedOpener } from './stored-fixture.ts'
import { refusal, testStore } from './stored-responses.ts'

const store = testStore()
const open = storedOpener(store)
const unknownItem = `msg_gw_${'0'.repeat(32)}`
const refer = (id: string) => ({ type: 'item_reference', id })
const say = (text: string) => ({ role: 'user', content: text })

describe('an item of a kept response', () => {
  test('is referred to by its user only: by a reference, or by an item that is only an id', async () => {
    const app = open()
    const made = await respond(app, 'ann', { input: 'one' })
    const item = made.output[0].id
    expect(item).toMatch(/^msg_gw_/)
    for (const reference of [refer(item), { id: item }, { type: null, id: item }]) {
      await respond(app, 'ann', { input: [say('one'), reference, say('two')] })
      expect(lastMessages(app)).toEqual(['user: one', 'assistant: answer x', 'user: two'])
    }
    app.asked.length = 0
    for (const model of ['m', 'native']) {
      for (const id of [item, unknownItem, item.toUpperCase(), 'msg_1']) {
        const rejected = await bodyOf(app.as('bob', 'POST', '/responses', { model, input: [say('x'), refer(id)] }))
        expect(rejected).toEqual([404, refusal(`Item with id '${id}' not found.`, { param: 'input[1].id' })])
      }
    }
    const disguises = [
      { Type: 'item_reference', type: 'message', id: item },
      { type: 'item_reference', ID: item },
      { type: 'reasoning', id: item },
      { item_id: item },
      { ...say('x'), item_id: item },
    ]
    for (const model of ['m', 'native']) {
      for (const disguise of disguises) {
        const response = await app.as('bob', 'POST', '/responses', { model, input: [say('x'), disguise] })
        // A bridged request may contain reasoning without content; then nothing is sent of it.
        if (response.status !== 200) expect([400, 404]).toContain(response.status)
        expect(JSON.stringify(app.asked.at(-1)?.json ?? '')).not.toContain('answer')
      }
    }
  })

  test('of the input can be referred to as well, by the id in its list', async () => {
    const app = open()
    const made = await respond(app, 'ann', { input: [say('one'), { ...say('own id'), id: 'msg_own' }] })
    const [, { data }] = await bodyOf(app.as('ann', 'GET', `/responses/${made.id}/input_items?order=asc`))
    expect(data[1]).toMatchObject({ id: 'msg_own' })
    await respond(app, 'ann', { input: [refer(data[0].id), refer(made.output[0].id), say('two')] })
    expect(lastMessages(app)).toEqual(['user: one', 'assistant: answer x', 'user: two'])
  })

  test('remains with the response that refers to it when its own response is deleted', async () => {
    const app = open()
    const first = await respond(app, 'ann', { input: 'one' })
    const item = first.output[0].id
    const second = await respond(app, 'ann', { input: [refer(item), say('two')] })
    await app.as('ann', 'DELETE', `/responses/${first.id}`)
    await respond(app, 'ann', { input: 'three', previous_response_id: second.id })
    expect(lastMessages(app)).toEqual(['assistant: answer x', 'user: two', 'assistant: answer x', 'user: three'])
    await respond(app, 'ann', { input: [refer(item)] })
    await app.as('ann', 'DELETE', `/responses/${second.id}`)
  })

  test('of a tool call is continued with its output, and reasoning goes along', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const app = open(() =>
      streaming([chunk({ reasoning_content: 'hm' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), '[DONE]']),
    )
    const made = await respond(app, 'ann', { tools: [{ type: 'function', name: 'f', parameters: {} }] })
    const output = { type: 'function_call_output', call_id: 'call_1', output: '2' }
    await respond(app, 'ann', { input: [output], previous_response_id: made.id })
    expect(app.asked.at(-1)?.json.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'call_1', function: { arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '2' },
    ])
  })
})

describe('a kept conversation goes on with a model that keeps its own', () => {
  test('without ids and reasoning of the gateway', async () => {
    const app = open((asked, id) =>
      asked.url.endsWith('/chat/completions')
        ? streaming([chunk({ reasoning_content: 'hm' }), chunk({ content: 'yes' }), chunk({}, 'stop'), '[DONE]'])
        : Response.json({ id, object: 'response', status: 'completed', output: [] }),
    )
    const made = await respond(app, 'ann', { input: [{ ...say('one'), id: 'msg_own' }] })
    await respond(app, 'ann', { model: 'native', input: 'two', previous_response_id: made.id })
    const { input, ...rest }: Body = app.asked.at(-1)?.json ?? {}
    expect(rest).not.toHaveProperty('previous_response_id')
    expect(input).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user', content: 'two' }])
    expect(JSON.stringify(input)).not.toContain('_gw_')
    expect(JSON.stringify(input)).not.toContain('hm')
    // A client that sends everything itself.
    const replay = await app.as('ann', 'POST', '/responses', {
      ...{ model: 'native', input: [say('one'), ...made.output, say('two')] },
    })
    expect(replay.status).toBe(200)
    expect(app.asked.at(-1)?.json.input).toHaveLength(3)
    expect(JSON.stringify(app.asked.at(-1)?.json)).not.toContain('_gw_')
    // Encrypted reasoning without its id.
    const sealed = await respond(app, 'ann', { include: ['reasoning.encrypted_content'] })
    const { id: _, ...reasoning } = sealed.output[0]
    expect(reasoning.encrypted_content).toBeString()
    const others = { type: 'reasoning', encrypted_content: 'of the upstream', summary: [] }
    await app.as('ann', 'POST', '/responses', { model: 'native', input: [reasoning, others, say('two')] })
    expect(app.asked.at(-1)?.json.input).toEqual([others, say('two')])
  })

  test('also to count its tokens, and to compact it', async () => {
    const app = open((asked, id) =>
      asked.url.endsWith('/responses/input_tokens')
        ? Response.json({ object: 'response.input_tokens', input_tokens: 7 })
        : answering(asked, id),
    )
    const made = await respond(app, 'ann', { input: 'one' })
    for (const below of ['input_tokens', 'compact']) {
      const more = { model: 'native', input: 'two', previous_response_id: made.id }
      expect((await app.as('ann', 'POST', `/responses/${below}`, more)).status).toBe(200)
      expect(app.asked.at(-1)?.json.input).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
      expect((await app.as('bob', 'POST', `/responses/${below}`, more)).status).toBe(400)
    }
  })

  test('but not the other way round', async () => {
    const app = open()
    await app.as('ann', 'POST', '/responses', { model: 'native', input: 'x' })
    const back = await bodyOf(
      app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: app.id }),
    )
    expect(back).toEqual([
      400,
      refusal('previous_response_id was created by the model native, which another upstream serves', {
        param: 'previous_response_id',
      }),
    ])
  })

  test('and not together with a conversation of that upstream', async () => {
    const app = open()
    const made = await respond(app, 'ann')
    const both = { model: 'native', input: 'x', previous_response_id: made.id, conversation: 'conv_1' }
    expect(await bodyOf(app.as('ann', 'POST', '/responses', both))).toMatchObject([
      400,
      { error: { param: 'previous_response_id', code: 'mutually_exclusive_parameters' } },
    ])
  })
})

describe('the list of input items', () => {
  test('has the items of all earlier turns, in pages', async () => {
    const app = open()
    const first = await respond(app, 'ann', { input: [say('one'), say('two')] })
    const second = await respond(app, 'ann', { input: 'three', previous_response_id: first.id })
    const list = async (query: string) => {
      const [status, body] = await bodyOf(app.as('ann', 'GET', `/responses/${second.id}/input_items${query}`))
      return status === 200 ? body : [status, body]
    }
    const all = await list('?order=asc&limit=100')
    expect(all).toMatchObject({ object: 'list', has_more: false, first_id: all.data[0].id, last_id: all.data[3].id })
    const status = 'completed'
    expect(all.data).toMatchObject([
      { type: 'message', status, role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { type: 'message', status, role: 'user', content: [{ type: 'input_text', text: 'two' }] },
      first.output[0],
      { type: 'message', status, role: 'user', content: [{ type: 'input_text', text: 'three' }] },
    ])
    const ids = all.data.map(({ id }: Body) => id)
    const idsOf = async (query: string) => {
      const { data, has_more, first_id, last_id } = await list(query)
      expect([first_id, last_id]).toEqual([data[0]?.id ?? null, data.at(-1)?.id ?? null])
      return [data.map(({ id }: Body) => ids.indexOf(id)), has_more]
    }
    expect(await idsOf('')).toEqual([[3, 2, 1, 0], false])
    expect(await idsOf('?limit=3')).toEqual([[3, 2, 1], true])
    expect(await idsOf(`?limit=3&after=${ids[1]}`)).toEqual([[0], false])
    expect(await idsOf(`?order=asc&limit=2&after=${ids[0]}`)).toEqual([[1, 2], true])
    expect(await idsOf(`?order=asc&limit=2&before=${ids[3]}`)).toEqual([[1, 2], true])
    expect(await idsOf(`?order=asc&after=${ids[0]}&before=${ids[3]}`)).toEqual([[1, 2], false])
    expect(await idsOf(`?order=asc&after=${ids[3]}&include[]=x`)).toEqual([[], false])
    const own = await bodyOf(app.as('ann', 'GET', `/responses/${first.id}/input_items?order=asc`))
    expect(own[1].data.map(({ id }: Body) => id)).toEqual(ids.slice(0, 2))
    const bad = async (query: string) => {
      const [code, { error }] = await list(query)
      return [code, error.param, error.code]
    }
    expect(await bad('?limit=0')).toEqual([400, 'limit', 'integer_below_min_value'])
    expect(await bad('?limit=101')).toEqual([400, 'limit', 'integer_above_max_value'])
    expect(await bad('?limit=x')).toEqual([400, 'limit', 'invalid_type'])
    expect(await bad('?order=up')).toEqual([400, 'order', 'invalid_value'])
    expect(await bad(`?after=${unknownItem}`)).toEqual([404, 'after', null])
    const other = await respond(app, 'bob')
    const foreign = await app.as('bob', 'GET', `/responses/${other.id}/input_items?after=${ids[0]}`)
    expect(foreign.status).toBe(404)
  })

  test('keeps numbers, unknown members and long texts', async () => {
    const app = open()
    const text = '名'.repeat(100_000)
    const input = `[{"role":"user","n":12345678901234567890,"content":[{"type":"input_text","text":${JSON.stringify(text)}}]}]`
    const headers = { authorization: 'ann', 'content-type': 'application/json' }
    const body = `{"model":"m","input":${input}}`
    const made: Body = await (await app.ask('/responses', { method: 'POST', headers, body })).json()
    const listed = await (await app.as('ann', 'GET', `/responses/${made.id}/input_items`)).text()
    expect([listed.includes('12345678901234567890'), listed.includes(text)]).toEqual([true, true])
    await respond(app, 'ann', { previous_response_id: made.id })
    expect(app.asked.at(-1)?.text).toContain('12345678901234567890')
  })
})

describe('the size of what a request refers to is bounded', () => {
  test('in bytes', async () => {
    const app = open(undefined, { maxBodyBytes: 20_000 })
    const big = await respond(app, 'ann', { input: 'x'.repeat(12_000) })
    const rejected = await bodyOf(
      app.as('ann', 'POST', '/responses', { model: 'm', input: 'x'.repeat(12_000), previous_response_id: big.id }),
    )
    const tooLong = { type: 'invalid_request_error', code: 'context_length_exceeded' }
    expect(rejected).toMatchObject([400, { error: { ...tooLong, param: 'previous_response_id' } }])
    const [, { data }] = await bodyOf(app.as('ann', 'GET', `/responses/${big.id}/input_items`))
    const twice = { model: 'm', input: [refer(data[0].id), refer(data[0].id)] }
    expect(await bodyOf(app.as('ann', 'POST', '/responses', twice))).toMatchObject([
      ...[400, { error: { ...tooLong, param: 'input' } }],
    ])
    expect(app.asked).toHaveLength(1)
  })

  test('in values, as that of a request', async () => {
    const app = open()
    const input = [{ role: 'user', content: [{ type: 'input_text', text: 'x', extra: Array(60_000).fill(1) }] }]
    const made = await respond(app, 'ann', { input })
    const more = { model: 'm', input, previous_response_id: made.id }
    expect(await bodyOf(app.as('ann', 'POST', '/responses', more))).toMatchObject([
      ...[400, { error: { code: 'context_length_exceeded' } }],
    ])
  })

  test('in references and in items', async () => {
    const app = open()
    const id = (index: number) => `msg_gw_${index.toString(16).padStart(32, '0')}`
    const references = Array.from({ length: 1_001 }, (_, index) => refer(id(index)))
    const rejected = app.as('ann', 'POST', '/responses', { model: 'm', input: references })
    expect(await bodyOf(rejected)).toEqual([400, refusal('request names more than 1000 objects', { param: 'input' })])
    const items = Array(4_097).fill(say('x'))
    expect(await bodyOf(app.as('ann', 'POST', '/responses', { model: 'm', input: items }))).toMatchObject([
      ...[400, { error: { code: 'array_above_max_length', param: 'input' } }],
    ])
    expect(app.asked).toEqual([])
    expect((await respond(app, 'ann', { input: items, store: false })).store).toBe(false)
  })
})

test('an asset in an earlier turn is checked again', async () => {
  let owned = true
  const assets = {
    asset: () => (owned ? Promise.resolve({} as never) : Promise.reject(new Error('not yours'))),
  }
  const app = open(undefined, { assets })
  const image = { type: 'input_image', image_url: 'asset://asset-1' }
  const made = await respond(app, 'ann', { input: [{ role: 'user', content: [image] }] })
  owned = false
  app.asked.length = 0
  const again = await app.as('ann', 'POST', '/responses', { model: 'm', input: 'x', previous_response_id: made.id })
  expect([again.status, app.asked]).toEqual([500, []])
})

test('an item of input gets a status only where its type has one', async () => {
  const app = open()
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
  const { id } = await respond(app, 'ann', { input: [reasoning, say('hi')] })
  const [, { data }] = await bodyOf(app.as('ann', 'GET', `/responses/${id}/input_items?order=asc`))
  expect(data).toMatchObject([reasoning, { type: 'message', status: 'completed' }])
  expect(data[0]).not.toHaveProperty('status')
})
