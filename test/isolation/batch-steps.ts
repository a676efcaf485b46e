import assert from 'node:assert/strict'
import fc from 'fast-check'
import { groupId, pick } from './list-request.ts'
import type { Model } from './model.ts'
import { checkError, messages, sendChecked } from './send.ts'
import { step, user } from './step.ts'

/** The batches of a sequence, and their owners. No process works on them. */
const batchesOf = new WeakMap<Model, { readonly id: string; readonly owner: number }[]>()

const batchesIn = (model: Model) => {
  const batches = batchesOf.get(model) ?? []
  batchesOf.set(model, batches)
  return batches
}

const path = '/assets/batches'
const headers = { 'content-type': 'application/x-ndjson' }

export const createBatch = step(
  'create a batch',
  fc.record({ user, group: pick(), items: fc.integer({ min: 1, max: 3 }) }),
  async ({ user, group, items }, model, fixture) => {
    const id = groupId(model, user, group)
    const body = Array.from({ length: items }, (_, nth) => `{"URL":"https://files.example/${nth}.png"}`).join('\n')
    const type = model.groups.get(id)?.type ?? 'AIGC'
    const target = `${path}?GroupId=${encodeURIComponent(id)}&GroupType=${type}`
    const reply = await sendChecked(fixture, model, { user, method: 'POST', path: target, body, headers, named: [id] })
    if (id === '') return assert.equal(reply.status, 400, reply.text)
    if (!model.ownsGroup(user, id)) return checkError(reply, 403, messages.group)
    if (model.hasWithdrawn(id)) return checkError(reply, 403, messages.withdrawn)
    if (reply.status === 429) return
    assert.equal(reply.status, 202, reply.text)
    batchesIn(model).push({ id: reply.json.Result.Id, owner: user })
  },
)

export const readBatch = step(
  'read a batch',
  fc.record({ user, nth: fc.nat(20), of: fc.constantFrom('', '/items', '/cancel') }),
  async ({ user, nth, of }, model, fixture) => {
    const batches = batchesIn(model)
    const { id, owner } = batches[nth % Math.max(1, batches.length)] ?? { id: `batch-${'0'.repeat(32)}`, owner: -1 }
    const method = of === '/cancel' ? 'POST' : 'GET'
    const reply = await sendChecked(fixture, model, { user, method, path: `${path}/${id}${of}` })
    if (owner !== user) return checkError(reply, 404, 'asset batch not found')
    assert.equal(reply.status, 200, reply.text)
    const { Id, Items } = reply.json.Result
    assert.ok(of === '/items' ? Items.length > 0 : Id === id, reply.text)
  },
)

export const listBatches = step('list batches', fc.record({ user }), async ({ user }, model, fixture) => {
  const seen: string[] = []
  for (let next = ''; ; ) {
    const target = `${path}?MaxResults=2&NextToken=${next}`
    const reply = await sendChecked(fixture, model, { user, method: 'GET', path: target })
    assert.equal(reply.status, 200, reply.text)
    seen.push(...reply.json.Result.Items.map(({ Id }: { Id: string }) => Id))
    next = reply.json.Result.NextToken
    if (next === '') break
  }
  const own = batchesIn(model).filter(({ owner }) => owner === user)
  assert.deepEqual(seen.toSorted(), own.map(({ id }) => id).toSorted())
})
