import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MODEL_25, media, text } from '../../video-generation/fixture.ts'
import type { Model, ModelTask } from './model.ts'

/** One step of a sequence: a description and what it does. */
export interface Step {
  readonly what: string
  run(model: Model): Promise<void>
}

const user = fc.nat(2)
const unknownTask = 'cgt-20260101000000-00000000000000000000'

/** A task that a request names. */
type Chosen = { readonly of: 'own' | 'foreign' | 'unknown' | 'upstream' | 'deleted'; readonly nth: number }
const chosen = (): fc.Arbitrary<Chosen> =>
  fc.record({
    of: fc.constantFrom(...(['own', 'own', 'own', 'foreign', 'foreign', 'unknown', 'upstream', 'deleted'] as const)),
    nth: fc.nat(20),
  })

const pick = <Item>(items: readonly Item[], nth: number): Item | undefined => items[nth % Math.max(1, items.length)]

/** The id of a chosen task, and the task if the user has it. @param rank says which tasks are chosen first */
const choose = (
  model: Model,
  owner: number,
  { of, nth }: Chosen,
  rank: (task: ModelTask) => boolean = () => true,
): { id: string; task: ModelTask | undefined } => {
  const best = (tasks: readonly ModelTask[]) => (tasks.some(rank) ? tasks.filter(rank) : tasks)
  const task = of === 'own' ? pick(best(model.own(owner)), nth) : undefined
  const others = best(model.tasks.filter((one) => one.owner !== owner))
  const ids = {
    own: task?.id,
    foreign: pick(others, nth)?.id,
    deleted: pick(
      model.tasks.filter(({ deleted }) => deleted),
      nth,
    )?.id,
    upstream: pick(model.upstreamTasks(), nth)?.id,
    unknown: undefined,
  }
  return { id: ids[of] ?? unknownTask, task }
}

const step = <Given>(name: string, given: fc.Arbitrary<Given>, run: (given: Given, model: Model) => Promise<void>) =>
  given.map((one): Step => ({ what: `${name} ${JSON.stringify(one)}`, run: (model) => run(one, model) }))

/** A picture of a person, which all users have, and which becomes an asset of each who uses it. */
const personUrl = 'https://files.example/real-face/shared.png'

const create = step(
  'create',
  fc.record({
    owner: user,
    asset: fc.constantFrom(...(['none', 'none', 'own', 'foreign', 'unknown', 'made'] as const)),
    lost: fc.nat(9).map((n) => n === 0),
    draft: fc.boolean(),
  }),
  async ({ owner, asset, lost, draft }, model) => {
    const { emulator } = model.fixture.video
    // The steps of lending use it.
    if (asset === 'foreign' && model.accessOf((owner + 1) % 3, owner) === 'use') return
    const secret = model.newSecret()
    const urls = {
      ...{ own: `asset://${model.assets[owner]}`, foreign: `asset://${model.assets[(owner + 1) % 3]}` },
      ...{ unknown: 'asset://asset-none', made: personUrl },
    }
    const content = asset === 'none' ? [] : [media('image', urls[asset], 'reference_image')]
    // A lost refusal would be settled only seconds later.
    const fault =
      lost && asset !== 'made' ? emulator.faults.add({ kind: 'reset-after', action: 'CreateVideoTask' }) : undefined
    const reply = await model.user(owner).send('POST', '', {
      ...{ model: MODEL_25, content: [text(secret), ...content], priority: 9, safety_identifier: 'forged' },
      ...(draft && { draft: true }),
      ...(asset === 'made' && { references: 'auto' }),
    })
    fault?.remove()
    model.checkLeaks(owner, reply)
    if (asset === 'foreign' || asset === 'unknown' || (asset === 'own' && model.withdrawn.has(owner))) {
      assert.equal(`${reply.status} ${reply.code}`, '403 asset_not_found', reply.text)
      return
    }
    assert.equal(reply.status, 200, reply.text)
    model.tasks.push({
      ...{ id: reply.json.id, owner, secret, status: 'queued', deleted: false },
      usesAsset: asset === 'own',
    })
  },
)

const createFromDraft = step(
  'create from a draft',
  fc.record({ owner: user, draft: chosen() }),
  async (given, model) => {
    const { owner, draft } = given
    const usable = ({ secret }: ModelTask) =>
      model
        .upstreamTasks()
        .some(({ status, request: { draft, prompt } }) => draft && status === 'succeeded' && prompt === secret)
    const { id, task } = choose(model, owner, draft, usable)
    const content = [{ type: 'draft_task', draft_task: { id } }]
    const reply = await model.user(owner).send('POST', '', { model: MODEL_25, content })
    model.checkLeaks(owner, reply, [id])
    if (!task) {
      const unknown = [{ type: 'draft_task', draft_task: { id: unknownTask } }]
      const expected = await model.user(owner).send('POST', '', { model: MODEL_25, content: unknown })
      assert.equal(`${reply.status} ${reply.text}`, `400 ${expected.text}`)
    } else if (reply.status === 200) {
      const { lender } = task
      const isWithdrawn = task.usesAsset && model.withdrawn.has(owner)
      assert.ok(!isWithdrawn, 'a video of a draft whose person has withdrawn the consent')
      assert.ok(lender === undefined || model.accessOf(lender, owner) === 'use', 'a video of a draft that is not lent')
      model.tasks.push({
        id: reply.json.id,
        owner,
        secret: task.secret,
        status: 'queued',
        deleted: false,
        usesAsset: false,
        ...(lender !== undefined && { lender }),
      })
    }
  },
)

/** A foreign task, a deleted one and one that does not exist are the same. */
const checkUnknown = async (model: Model, owner: number, method: string, reply: { status: number; text: string }) => {
  const expected = await model.user(owner).send(method, `/${unknownTask}`)
  assert.equal(`${reply.status} ${reply.text}`, `404 ${expected.text}`)
}

const get = step('get', fc.record({ owner: user, task: chosen() }), async ({ owner, task: which }, model) => {
  const { id, task } = choose(model, owner, which)
  const reply = await model.user(owner).get(id)
  model.checkLeaks(owner, reply, [id])
  if (!task) return checkUnknown(model, owner, 'GET', reply)
  assert.equal(reply.status, 200, reply.text)
  model.checkTask(owner, reply.json)
})

const list = step(
  'list',
  fc.record({ owner: user, named: fc.array(chosen(), { maxLength: 3 }), size: fc.constantFrom(2, 500) }),
  async ({ owner, named, size }, model) => {
    const ids = [...new Set(named.map((one) => choose(model, owner, one).id))]
    const query = ids.map((id) => `&filter.task_ids=${id}`).join('')
    const expected = model.own(owner).filter(({ id }) => ids.length === 0 || ids.includes(id))
    const seen: string[] = []
    for (let page = 1; ; page++) {
      const reply = await model.user(owner).send('GET', `?page_num=${page}&page_size=${size}${query}`)
      model.checkLeaks(owner, reply)
      assert.equal(reply.json.total, expected.length, reply.text)
      for (const item of reply.json.items) model.checkTask(owner, item)
      seen.push(...reply.json.items.map(({ id }: { id: string }) => id))
      if (reply.json.items.length < size) break
    }
    assert.deepEqual(seen.sort(), expected.map(({ id }) => id).sort())
  },
)

const remove = step(
  'delete',
  fc.record({ owner: user, task: chosen(), mode: fc.constantFrom('', '', '?mode=cancel', '?mode=delete') }),
  async ({ owner, task: which, mode }, model) => {
    const { id, task } = choose(model, owner, which)
    const reply = await model.user(owner).send('DELETE', `/${id}${mode}`)
    model.checkLeaks(owner, reply, [id])
    if (!task) return checkUnknown(model, owner, 'DELETE', reply)
    if (reply.status !== 200) return assert.equal(reply.status, 409, reply.text)
    const after = await model.user(owner).get(id)
    if (after.status === 404) task.deleted = true
    else {
      assert.equal(after.json.status, 'cancelled')
      model.checkTask(owner, after.json)
    }
  },
)

const uses = step(
  'uses of an asset',
  fc.record({ caller: user, of: user, size: fc.constantFrom(1, 100) }),
  async ({ caller, of, size }, model) => {
    const asset = model.assets[of] ?? ''
    const library = model.fixture.video.emulator.library
    const group = library.asset(asset)?.groupId ?? ''
    const counts = await model.user(caller).ask('GET', `/assets/groups/${group}/uses`)
    const seen: string[] = []
    for (let next = ''; ; ) {
      const query = `?MaxResults=${size}&NextToken=${next}`
      const reply = await model.user(caller).ask('GET', `/assets/${asset}/uses${query}`)
      model.checkLeaks(caller, reply)
      if (caller !== of) return assert.deepEqual([reply.status, counts.status], [403, 403], reply.text)
      const { Items: items, NextToken, TotalCount } = reply.json.Result
      for (const item of items) model.checkTask(caller, item)
      seen.push(...items.map(({ id }: { id: string }) => id))
      assert.deepEqual(counts.json.Result.TotalCount, TotalCount)
      next = NextToken
      if (next === '') break
    }
    const expected = model.own(caller).filter(({ usesAsset }) => usesAsset)
    assert.deepEqual(seen.toSorted(), expected.map(({ id }) => id).toSorted())
  },
)

const finish = step('finish', fc.record({ nth: fc.nat(20), fails: fc.boolean() }), async ({ nth, fails }, model) => {
  const task = pick(
    model.upstreamTasks().filter(({ endTime, gone }) => endTime === undefined && !gone),
    nth,
  )
  const outcome = fails ? { status: 'failed' as const, code: 'X', message: 'x' } : { status: 'succeeded' as const }
  if (task) model.fixture.video.emulator.video.finish(task.id, outcome)
  // The poller sees it soon, or the next step comes first.
  if (nth % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
})

/** Sequences of steps. */
export const sequences = (more: readonly fc.WeightedArbitrary<Step>[] = []): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { arbitrary: create, weight: 5 },
      { arbitrary: createFromDraft, weight: 3 },
      { arbitrary: get, weight: 4 },
      { arbitrary: list, weight: 2 },
      { arbitrary: remove, weight: 3 },
      { arbitrary: uses, weight: 1 },
      { arbitrary: finish, weight: 4 },
      ...more,
    ),
    // With more kinds of steps it takes more of them.
    more.length > 0 ? { minLength: 25, maxLength: 40 } : { minLength: 5, maxLength: 40 },
  )
