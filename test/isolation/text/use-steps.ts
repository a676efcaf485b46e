import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { Reply } from '../../support/gateway.ts'
import { eventsIn } from './create-step.ts'
import { nativeModel, type World } from './fixture.ts'
import type { Model } from './model.ts'
import { idOf, neverId, pick } from './pick.ts'
import { step, user } from './step.ts'
import { type Ask, asking, checkUnknown, watchCalls } from './turn.ts'

const used = { user, at: fc.nat(1), response: pick() }

/** Uses a response, as far as it is the caller's: undefined where it is not, or where that is not sure. Before anything in the model is changed. */
const use = async (
  world: World,
  model: Model,
  { id, ...asked }: Ask & { readonly id: string },
  action: string,
): Promise<Reply | undefined> => {
  const owns = model.owns(asked.user, 'response', id)
  world.emulator.clearCalls()
  const reply = await followed(world, model, { ...asked, named: [id, ...(asked.named ?? [])] })
  const calls = watchCalls(world, model, asked)
  if (owns === 'yes') {
    const actions = calls.map((call) => call.action)
    // What one in the background came to is asked before it cannot be asked for any more, until it is known.
    if (action === 'DeleteResponse' && model.things.get(id)?.background && actions[0] === 'GetResponse') actions.shift()
    assert.deepEqual(actions, [action], `its owner cannot use ${id}: ${reply.text}`)
    if (!model.isThere(id)) assert.ok(reply.status === 404 || action === 'DeleteResponse', reply.text)
    return reply
  }
  if (owns === 'no') {
    await checkUnknown(world, model, { ...asked, named: [id] }, reply, [id, neverId('response', asked.at)])
    assert.equal(reply.status, 404, reply.text)
  }
  return undefined
}

/** Asks, and lets time pass as long as a stream follows what goes on in the background. */
const followed = async (world: World, model: Model, asked: Ask): Promise<Reply> => {
  const asking_ = asking(world, model, asked)
  if (!asked.path.includes('stream=true')) return asking_
  let open = true
  const close = () => {
    open = false
  }
  void asking_.then(close, close)
  while (open) {
    await wait(1)
    // Not before the request has been let pass: whose the response is may be over by then.
    if (world.emulator.calls.some(({ action }) => action === 'GetResponse')) await world.clock.pass(400)
  }
  return asking_
}

const path = (id: string, below = '') => `/responses/${encodeURIComponent(id)}${below}`

export const get = step(
  'get',
  fc.record({ ...used, after: fc.constantFrom(undefined, undefined, undefined, -1, 0, 3, 'x') }),
  async ({ user, at, response, after }, model, world) => {
    const id = idOf(model, user, 'response', response)
    const thing = model.things.get(id)
    const streams = after !== undefined
    const query = streams ? `?stream=true${after === -1 ? '' : `&starting_after=${after}`}` : ''
    const since = model.now()
    const there = model.isThere(id)
    const reply = await use(world, model, { user, at, method: 'GET', path: path(id, query), id }, 'GetResponse')
    if (!reply || !there || !thing) return
    const works = !streams || (thing.background && thing.streams && after !== 'x')
    assert.equal(reply.status < 400, works, reply.text)
    if (!works) return
    const last = streams ? eventsIn(reply.text).at(-1) : reply.json
    model.showOutput(user, last, since)
    if (last?.status === 'completed')
      for (const said of thing.said) assert.ok(reply.text.includes(said), `forgets “${said}”`)
  },
)

export const remove = step('delete', fc.record(used), async ({ user, at, response }, model, world) => {
  const id = idOf(model, user, 'response', response)
  const there = model.isThere(id)
  const reply = await use(world, model, { user, at, method: 'DELETE', path: path(id), id }, 'DeleteResponse')
  if (!reply || !there) return
  assert.deepEqual([reply.status, reply.json], [200, { id, object: 'response.deleted', deleted: true }])
  model.forget(id)
  await use(world, model, { user, at: 1 - at, method: 'GET', path: path(id), id }, 'GetResponse')
})

export const cancel = step('cancel', fc.record(used), async ({ user, at, response }, model, world) => {
  const id = idOf(model, user, 'response', response)
  const there = model.isThere(id)
  const reply = await use(world, model, { user, at, method: 'POST', path: path(id, '/cancel'), id }, 'CancelResponse')
  if (reply && there) assert.equal(reply.status, model.things.get(id)?.background ? 200 : 400, reply.text)
})

export const list = step(
  'list input items',
  fc.record({
    ...used,
    item: fc.option(pick(), { freq: 2 }),
    before: fc.nat(3),
    limit: fc.constantFrom('', '&limit=1', '&limit=100'),
  }),
  async ({ user, at, response, item, before, limit }, model, world) => {
    const id = idOf(model, user, 'response', response)
    const places = model.placesOf(id)
    const place = item?.of === 'own' ? places[item.at % places.length] : undefined
    const after = item && (place ?? idOf(model, user, 'item', item))
    const query = after === null ? '?' : `?${before === 0 ? 'before' : 'after'}=${encodeURIComponent(after)}&`
    const named = after === null ? [id] : [id, after]
    const asked = { user, at, method: 'GET', path: path(id, `/input_items${query}order=asc${limit}`), named }
    const since = model.now()
    const there = model.isThere(id)
    const isPlace = after === null ? 'yes' : model.isPlace(id, after)
    if (isPlace === 'no' && after !== null && model.owns(user, 'response', id) === 'yes') {
      world.emulator.clearCalls()
      const reply = await asking(world, model, asked)
      assert.equal(reply.status, 404, reply.text)
      return checkUnknown(world, model, asked, reply, [after, neverId('item', at)])
    }
    if (isPlace === 'maybe') return
    const reply = await use(world, model, { ...asked, id }, 'ListInputItems')
    if (reply?.status !== 200 || !there) return
    for (const item of reply.json.data) model.showPlace(id, item.id, since)
    // To be shown an item makes nobody its owner: it may have somebody else's id, given to it by whoever sent it.
    const shown = reply.json.data.find((item: { readonly id: string }) => model.owns(user, 'item', item.id) === 'no')
    if (shown !== undefined) await checkNoReference(world, model, { user, at }, shown.id)
    const [said = ''] = model.things.get(id)?.said ?? []
    if (after === null && limit !== '&limit=1') assert.ok(reply.text.includes(said), `forgets “${said}”`)
  },
)

const checkNoReference = async (
  world: World,
  model: Model,
  by: Pick<Ask, 'user' | 'at'>,
  id: string,
): Promise<void> => {
  const body = JSON.stringify({ model: nativeModel, input: [{ type: 'item_reference', id }] })
  const asked = { ...by, method: 'POST', path: '/responses', body, named: [id] }
  world.emulator.clearCalls()
  const reply = await asking(world, model, asked)
  await checkUnknown(world, model, asked, reply, [id, neverId('item', by.at)])
}
