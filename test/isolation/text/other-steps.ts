import assert from 'node:assert/strict'
import fc from 'fast-check'
import { inside } from '../../support/gateway.ts'
import { type Creation, creation, note, prepare, shownIn } from './create-step.ts'
import { bridgedModel, nativeModel } from './fixture.ts'
import type { Thing } from './model.ts'
import { idOf, neverId, pick } from './pick.ts'
import { step, user } from './step.ts'
import { asking, checkUnknown, watchCalls } from './turn.ts'

/** Parts of a chat message that name objects, or only look as if they did. */
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
  async ({ user, at, model: name, part, object, stream }, model, world) => {
    const kind = part === 'audio' ? 'audio' : 'file'
    const id = idOf(model, user, kind, object)
    const messages = `[${parts[part](JSON.stringify(id))}]`
    const body = `{"model":${JSON.stringify(world.bridges ? name : nativeModel)},"stream":${stream},"messages":${messages}}`
    const asked = { user, at, method: 'POST', path: '/chat/completions', body, named: [id] }
    world.emulator.clearCalls()
    const reply = await asking(world, model, asked)
    watchCalls(world, model, asked)
    if (part === 'nothing') return assert.equal(reply.status, 200, reply.text)
    await checkUnknown(world, model, asked, reply, [id, neverId(kind, at)])
  },
)

/** Targets as they stand on the wire. `{own}` and `{other}` become ids of responses. */
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

export const odd = step(
  'an odd target',
  fc.record({
    user,
    at: fc.nat(1),
    target: fc.constantFrom(...targets),
    method: fc.constantFrom('GET', 'DELETE', 'POST'),
    own: pick(),
    other: pick(),
  }),
  async ({ user, at, target, method, own, other }, model, world) => {
    const ids = [
      idOf(model, user, 'response', { ...own, of: 'own' }),
      idOf(model, user, 'response', { ...other, of: 'other' }),
    ] as const
    const path = target.replaceAll('{own}', ids[0]).replaceAll('{other}', ids[1])
    // Whatever it is taken for: a deletion of what is the caller's own would be one.
    if (method === 'DELETE' && model.owns(user, 'response', ids[0]) !== 'no') return
    world.emulator.clearCalls()
    const asked = { user, at, method, path, named: ids }
    const reply = await asking(world, model, asked)
    watchCalls(world, model, asked)
    assert.ok(reply.status < 500, `${reply.status} for ${method} ${path}`)
  },
)

export const nobody = step(
  'nobody asks',
  fc.record({
    user,
    at: fc.nat(1),
    form: fc.nat(5),
    response: pick(),
    method: fc.constantFrom('GET', 'DELETE', 'POST'),
    below: fc.constantFrom('', '/cancel', '/input_items'),
  }),
  async ({ user, at, form, response, method, below }, model, world) => {
    const { token } = model.users[user] ?? { token: '' }
    const authorization = ['', 'Bearer', `Bearer ${token}x`, `Basic ${token}`, token, `Bearer ${token} ${token}`][form]
    const id = idOf(model, user, 'response', { ...response, of: response.of === 'own' ? 'own' : 'other' })
    const fits = { '': ['GET', 'DELETE'], '/cancel': ['POST'], '/input_items': ['GET'] }[below]?.includes(method)
    if (!fits) return
    world.emulator.clearCalls()
    const init = { method, headers: { authorization: authorization ?? '', cookie: `session=${token}` } }
    const answer = await fetch(`${world.urls[at as 0]}/v1/responses/${id}${below}`, init)
    const text = await answer.text()
    assert.equal(answer.status, 401, text)
    assert.doesNotMatch(text, inside)
    assert.deepEqual(watchCalls(world, model, { user, at, method, path: `/responses/${id}${below}` }), [])
  },
)

const planted = ['file', 'prompt', 'container', 'vector_store', 'audio'] as const

export const behind = step(
  'somebody at the upstream',
  fc.record({
    does: fc.constantFrom('deletes', 'plants', 'plants'),
    kind: fc.constantFrom(...planted),
    at: fc.nat(40),
  }),
  async ({ does, kind, at }, model, world) => {
    const { objects } = world.emulator.text
    if (does === 'plants')
      objects.add({ kind, id: `${neverId(kind, at)}x${model.things.size}`, name: 'a secret of nobody' })
    const things = [...model.things.values()].filter(
      (thing: Thing) => thing.kind === 'response' || thing.kind === 'conversation',
    )
    const thing = things[at % things.length]
    if (does === 'deletes' && thing) objects.delete(thing.id)
    model.account(undefined)
  },
)

/** The upstream gives an id again that it has given to somebody else: the first keeps it, and the second is told nothing. */
export const repeat = step(
  'an id twice',
  fc.record({ user, at: fc.nat(1), response: pick(), stream: fc.boolean() }),
  async ({ user, at, response, stream }, model, world) => {
    const others = [...model.things.values()].filter(
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
    world.emulator.text.answer({
      chunks: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    })
    const body = JSON.stringify({ model: nativeModel, input: 'hi', stream })
    const reply = await asking(world, model, { user, at, method: 'POST', path: '/responses', body })
    assert.ok(!reply.text.includes('completed') && (stream || reply.status >= 500), reply.text)
    const look = { at, method: 'GET', path: `/responses/${id}`, named: [id] }
    assert.equal((await asking(world, model, { ...look, user })).status, 404)
    const kept = await asking(world, model, { ...look, user: owner })
    assert.equal(kept.status, model.isThere(id) ? 200 : 404, kept.text)
    model.showOutput(owner, kept.json, model.now())
  },
)

/** Three at once, in both processes: each gets its own. */
export const together = step(
  'together',
  fc.record({ three: fc.tuple(creation(), creation(), creation()) }),
  async ({ three }, model, world) => {
    world.emulator.clearCalls()
    const all = three.map((one, user) => {
      const given: Creation = { ...one, user, model: nativeModel, manner: 'plain', store: true, begins: false }
      return { given, asked: prepare(given, model) }
    })
    const replies = await Promise.all(all.map(({ asked }) => asking(world, model, asked.ask)))
    for (const [at, { given, asked }] of all.entries()) {
      const reply = replies[at]
      if (asked.refusal) assert.ok((reply?.status ?? 0) >= 400, reply?.text ?? '')
      if (reply?.status === 200) model.add({ kind: 'response', id: reply.json.id, owner: given.user })
    }
    model.account(undefined)
    for (const [at, { given, asked }] of all.entries()) {
      const reply = replies[at]
      if (reply?.status === 200) note(given, model, asked, shownIn([reply.json], reply.text, true))
    }
  },
)
