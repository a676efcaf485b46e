import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { Reply } from '../../support/gateway.ts'
import { eventsIn } from './create-step.ts'
import { type Fixture, nativeModel } from './fixture.ts'
import { idOf, pick, unusedId } from './id-choice.ts'
import type { Model } from './model.ts'
import { checkNotFound, checkUpstreamCalls, send, type TestRequest } from './send.ts'
import { step, user } from './step.ts'

const used = { user, at: fc.nat(1), response: pick() }

/** Sends a request for a response. Undefined: the caller does not own it, or the owner is not certain. Call it before the model is updated. */
const use = async (
  fixture: Fixture,
  model: Model,
  { id, ...request }: TestRequest & { readonly id: string },
  action: string,
): Promise<Reply | undefined> => {
  const owns = model.owns(request.user, 'response', id)
  fixture.emulator.clearCalls()
  const reply = await sendAndAdvance(fixture, model, { ...request, named: [id, ...(request.named ?? [])] })
  const calls = checkUpstreamCalls(fixture, model, request)
  if (owns === 'yes') {
    const actions = calls.map((call) => call.action)
    // Before it deletes a background response, the gateway reads its result, unless it has it.
    if (action === 'DeleteResponse' && model.objects.get(id)?.background && actions[0] === 'GetResponse')
      actions.shift()
    assert.deepEqual(actions, [action], `its owner cannot use ${id}: ${reply.text}`)
    if (!model.isThere(id)) assert.ok(reply.status === 404 || action === 'DeleteResponse', reply.text)
    return reply
  }
  if (owns === 'no') {
    await checkNotFound(fixture, model, { ...request, named: [id] }, reply, [id, unusedId('response', request.at)])
    assert.equal(reply.status, 404, reply.text)
  }
  return undefined
}

/** Sends a request. While the response streams a background response, it advances the clock. */
const sendAndAdvance = async (fixture: Fixture, model: Model, request: TestRequest): Promise<Reply> => {
  const sending = send(fixture, model, request)
  if (!request.path.includes('stream=true')) return sending
  let open = true
  const close = () => {
    open = false
  }
  void sending.then(close, close)
  while (open) {
    await wait(1)
    // Advance only after the ownership check: the record may expire with the time.
    if (fixture.emulator.calls.some(({ action }) => action === 'GetResponse')) await fixture.clock.pass(400)
  }
  return sending
}

const path = (id: string, below = '') => `/responses/${encodeURIComponent(id)}${below}`

export const get = step(
  'get',
  fc.record({ ...used, after: fc.constantFrom(undefined, undefined, undefined, -1, 0, 3, 'x') }),
  async ({ user, at, response, after }, model, fixture) => {
    const id = idOf(model, user, 'response', response)
    const object = model.objects.get(id)
    const streams = after !== undefined
    const query = streams ? `?stream=true${after === -1 ? '' : `&starting_after=${after}`}` : ''
    const since = model.now()
    const there = model.isThere(id)
    const reply = await use(fixture, model, { user, at, method: 'GET', path: path(id, query), id }, 'GetResponse')
    if (!reply || !there || !object) return
    const accepted = !streams || (object.background && object.streams && after !== 'x')
    assert.equal(reply.status < 400, accepted, reply.text)
    if (!accepted) return
    const last = streams ? eventsIn(reply.text).at(-1) : reply.json
    model.showOutput(user, last, since)
    if (last?.status === 'completed')
      for (const text of object.history) assert.ok(reply.text.includes(text), `lacks “${text}”`)
  },
)

export const remove = step('delete', fc.record(used), async ({ user, at, response }, model, fixture) => {
  const id = idOf(model, user, 'response', response)
  const there = model.isThere(id)
  const reply = await use(fixture, model, { user, at, method: 'DELETE', path: path(id), id }, 'DeleteResponse')
  if (!reply || !there) return
  assert.deepEqual([reply.status, reply.json], [200, { id, object: 'response.deleted', deleted: true }])
  model.forget(id)
  await use(fixture, model, { user, at: 1 - at, method: 'GET', path: path(id), id }, 'GetResponse')
})

export const cancel = step('cancel', fc.record(used), async ({ user, at, response }, model, fixture) => {
  const id = idOf(model, user, 'response', response)
  const there = model.isThere(id)
  const reply = await use(fixture, model, { user, at, method: 'POST', path: path(id, '/cancel'), id }, 'CancelResponse')
  if (reply && there) assert.equal(reply.status, model.objects.get(id)?.background ? 200 : 400, reply.text)
})

export const list = step(
  'list input items',
  fc.record({
    ...used,
    item: fc.option(pick(), { freq: 2 }),
    before: fc.nat(3),
    limit: fc.constantFrom('', '&limit=1', '&limit=100'),
  }),
  async ({ user, at, response, item, before, limit }, model, fixture) => {
    const id = idOf(model, user, 'response', response)
    const cursors = model.cursorsOf(id)
    const cursor = item?.of === 'own' ? cursors[item.at % cursors.length] : undefined
    const after = item && (cursor ?? idOf(model, user, 'item', item))
    const query = after === null ? '?' : `?${before === 0 ? 'before' : 'after'}=${encodeURIComponent(after)}&`
    const named = after === null ? [id] : [id, after]
    const request = { user, at, method: 'GET', path: path(id, `/input_items${query}order=asc${limit}`), named }
    const since = model.now()
    const there = model.isThere(id)
    const isCursor = after === null ? 'yes' : model.isCursor(id, after)
    if (isCursor === 'no' && after !== null && model.owns(user, 'response', id) === 'yes') {
      fixture.emulator.clearCalls()
      const reply = await send(fixture, model, request)
      assert.equal(reply.status, 404, reply.text)
      return checkNotFound(fixture, model, request, reply, [after, unusedId('item', at)])
    }
    if (isCursor === 'maybe') return
    const reply = await use(fixture, model, { ...request, id }, 'ListInputItems')
    if (reply?.status !== 200 || !there) return
    for (const item of reply.json.data) model.showCursor(id, item.id, since)
    // A list of input items gives no ownership: its sender may have given an item another user's id.
    const shown = reply.json.data.find((item: { readonly id: string }) => model.owns(user, 'item', item.id) === 'no')
    if (shown !== undefined) await checkNoReference(fixture, model, { user, at }, shown.id)
    const [first = ''] = model.objects.get(id)?.history ?? []
    if (after === null && limit !== '&limit=1') assert.ok(reply.text.includes(first), `lacks “${first}”`)
  },
)

const checkNoReference = async (
  fixture: Fixture,
  model: Model,
  by: Pick<TestRequest, 'user' | 'at'>,
  id: string,
): Promise<void> => {
  const body = JSON.stringify({ model: nativeModel, input: [{ type: 'item_reference', id }] })
  const request = { ...by, method: 'POST', path: '/responses', body, named: [id] }
  fixture.emulator.clearCalls()
  const reply = await send(fixture, model, request)
  await checkNotFound(fixture, model, request, reply, [id, unusedId('item', by.at)])
}
