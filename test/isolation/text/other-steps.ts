import assert from 'node:assert/strict'
import fc from 'fast-check'
import { internalDetails } from '../../support/gateway.ts'
import { type Creation, creation, prepare, record, shownIn } from './create-step.ts'
import { bridgedModel, nativeModel } from './fixture.ts'
import { idOf, pick, unusedId } from './id-choice.ts'
import { checkNotFound, checkUpstreamCalls, send } from './send.ts'
import { step, user } from './step.ts'

/** Chat messages: with an id of an object, and without. */
const parts = {
  file: (id: string) => `{"role":"user","content":[{"type":"file","file":{"file_id":${id}}}]}`,
  audio: (id: string) => `{"role":"assistant","content":"","audio":{"id":${id}}},{"role":"user","content":"hm"}`,
  nothing: () => '{"role":"user","content":"hm"}',
} as const

export const chat = step(
  'chat',
  fc.record({
    user,
    at: fc.nat(1),
    model: fc.constantFrom(nativeModel, bridgedModel),
    part: fc.constantFrom(...(Object.keys(parts) as (keyof typeof parts)[])),
    object: pick(),
    stream: fc.boolean(),
  }),
  async ({ user, at, model: name, part, object, stream }, model, fixture) => {
    const kind = part === 'audio' ? 'audio' : 'file'
    const id = idOf(model, user, kind, object)
    const messages = `[${parts[part](JSON.stringify(id))}]`
    const body = `{"model":${JSON.stringify(fixture.bridges ? name : nativeModel)},"stream":${stream},"messages":${messages}}`
    const request = { user, at, method: 'POST', path: '/chat/completions', body, named: [id] }
    fixture.emulator.clearCalls()
    const reply = await send(fixture, model, request)
    checkUpstreamCalls(fixture, model, request)
    if (part === 'nothing') return assert.equal(reply.status, 200, reply.text)
    await checkNotFound(fixture, model, request, reply, [id, unusedId(kind, at)])
  },
)

/** Malformed or ambiguous request targets, sent without normalization. `{own}` and `{other}` stand for ids of responses. */
const targets = [
  '/responses/{own}/../{other}',
  '/responses/{own}/..%2f{other}',
  '/responses/{own}%2f..%2f{other}',
  '/responses/{own}%252f..%252f{other}',
  '/responses/{own}/input_items/../../{other}',
  '/responses/{own}/cancel/..%2f..%2f{other}',
  '/responses//{other}',
  '/responses/./{other}',
  '/responses/%2e%2e/responses/{other}',
  '/responses/{other}%00',
  '/responses/{other}/',
  '/responses/{other};x',
  '/responses/{other}?stream=true#x',
  '/responses/{own}?stream=false&starting_after=0&id={other}&response_id={other}',
  '/responses/{own}\\..\\{other}',
  '/models/..%2fresponses%2f{other}',
  '/models/../responses/{other}',
  '/chat/../responses/{other}',
  '/conversations/{other}',
  '/files/{other}',
] as const

export const sendMalformedTarget = step(
  'send a malformed target',
  fc.record({
    user,
    at: fc.nat(1),
    target: fc.constantFrom(...targets),
    method: fc.constantFrom('GET', 'DELETE', 'POST'),
    own: pick(),
    other: pick(),
  }),
  async ({ user, at, target, method, own, other }, model, fixture) => {
    const ids = [
      idOf(model, user, 'response', { ...own, of: 'own' }),
      idOf(model, user, 'response', { ...other, of: 'other' }),
    ] as const
    const path = target.replaceAll('{own}', ids[0]).replaceAll('{other}', ids[1])
    // This target may delete the caller's own response. Then the model would not match.
    if (method === 'DELETE' && model.owns(user, 'response', ids[0]) !== 'no') return
    fixture.emulator.clearCalls()
    const request = { user, at, method, path, named: ids }
    const reply = await send(fixture, model, request)
    checkUpstreamCalls(fixture, model, request)
    assert.ok(reply.status < 500, `${reply.status} for ${method} ${path}`)
  },
)

export const sendUnauthenticated = step(
  'send without valid authentication',
  fc.record({
    user,
    at: fc.nat(1),
    form: fc.nat(5),
    response: pick(),
    method: fc.constantFrom('GET', 'DELETE', 'POST'),
    below: fc.constantFrom('', '/cancel', '/input_items'),
  }),
  async ({ user, at, form, response, method, below }, model, fixture) => {
    const { token } = model.users[user] ?? { token: '' }
    const authorization = ['', 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token, `Bearer ${token} ${token}`][form]
    const id = idOf(model, user, 'response', { ...response, of: response.of === 'own' ? 'own' : 'other' })
    const fits = { '': ['GET', 'DELETE'], '/cancel': ['POST'], '/input_items': ['GET'] }[below]?.includes(method)
    if (!fits) return
    fixture.emulator.clearCalls()
    const init = { method, headers: { authorization: authorization ?? '', cookie: `session=${token}` } }
    const received = await fetch(`${fixture.urls[at as 0]}/v1/responses/${id}${below}`, init)
    const text = await received.text()
    assert.equal(received.status, 401, text)
    assert.doesNotMatch(text, internalDetails)
    assert.deepEqual(checkUpstreamCalls(fixture, model, { user, at, method, path: `/responses/${id}${below}` }), [])
  },
)

const plantedKinds = ['file', 'prompt', 'container', 'vector_store', 'audio'] as const

export const changeUpstream = step(
  'change the upstream directly',
  fc.record({
    does: fc.constantFrom('deletes', 'adds', 'adds'),
    kind: fc.constantFrom(...plantedKinds),
    at: fc.nat(40),
  }),
  async ({ does, kind, at }, model, fixture) => {
    const { objects } = fixture.emulator.text
    if (does === 'adds')
      objects.add({ kind, id: `${unusedId(kind, at)}x${model.objects.size}`, name: 'a secret of nobody' })
    const deletable = [...model.objects.values()].filter(({ kind }) => kind === 'response' || kind === 'conversation')
    const target = deletable[at % deletable.length]
    if (does === 'deletes' && target) objects.delete(target.id)
    model.addNew(undefined)
  },
)

/** The upstream returns an id that another user owns: the first user keeps it, and the second receives an error. */
export const reuseId = step(
  'reuse an id',
  fc.record({ user, at: fc.nat(1), response: pick(), stream: fc.boolean() }),
  async ({ user, at, response, stream }, model, fixture) => {
    const others = [...model.objects.values()].filter(
      (one) => one.owner !== user && one.owner !== undefined && model.owns(one.owner, 'response', one.id) === 'yes',
    )
    const victim = others[response.at % others.length]
    if (!victim) return
    const { id, owner = 0 } = victim
    const object = {
      id,
      object: 'response',
      created_at: 1,
      model: nativeModel,
      status: 'completed',
      output: [],
      usage: null,
    }
    const events = ['created', 'completed'].map((type, sequence_number) => ({
      type: `response.${type}`,
      sequence_number,
      response: object,
    }))
    fixture.emulator.text.respondWith({
      chunks: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    })
    const body = JSON.stringify({ model: nativeModel, input: 'hi', stream })
    const reply = await send(fixture, model, { user, at, method: 'POST', path: '/responses', body })
    assert.ok(!reply.text.includes('completed') && (stream || reply.status >= 500), reply.text)
    const look = { at, method: 'GET', path: `/responses/${id}`, named: [id] }
    assert.equal((await send(fixture, model, { ...look, user })).status, 404)
    const kept = await send(fixture, model, { ...look, user: owner })
    assert.equal(kept.status, model.isThere(id) ? 200 : 404, kept.text)
    model.showOutput(owner, kept.json, model.now())
  },
)

/** Three concurrent requests to both gateways: each user receives the own response. */
export const createConcurrently = step(
  'create concurrently',
  fc.record({ three: fc.tuple(creation(), creation(), creation()) }),
  async ({ three }, model, fixture) => {
    fixture.emulator.clearCalls()
    const all = three.map((one, user) => {
      const given: Creation = {
        ...one,
        user,
        model: nativeModel,
        mode: 'plain',
        store: true,
        startsConversation: false,
      }
      return { given, prepared: prepare(given, model) }
    })
    const replies = await Promise.all(all.map(({ prepared }) => send(fixture, model, prepared.request)))
    for (const [at, { given, prepared }] of all.entries()) {
      const reply = replies[at]
      if (prepared.rejected) assert.ok((reply?.status ?? 0) >= 400, reply?.text ?? '')
      if (reply?.status === 200) model.add({ kind: 'response', id: reply.json.id, owner: given.user })
    }
    model.addNew(undefined)
    for (const [at, { given, prepared }] of all.entries()) {
      const reply = replies[at]
      if (reply?.status === 200) record(given, model, prepared, shownIn([reply.json], reply.text, true))
    }
  },
)
