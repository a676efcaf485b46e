import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MODEL_25, media, text } from '../../video-generation/fixture.ts'
import type { Model } from './model.ts'
import type { Step } from './steps.ts'

/** Mostly the same two users, so that a share has tasks before it ends, and after. */
const pair = { lender: fc.constantFrom(0, 0, 0, 0, 1, 2), other: fc.constantFrom(1, 1, 1, 2) }

const step = <Given>(name: string, given: fc.Arbitrary<Given>, run: (given: Given, model: Model) => Promise<void>) =>
  given.map((one): Step => ({ what: `${name} ${JSON.stringify(one)}`, run: (model) => run(one, model) }))

const sharesPath = (model: Model, lender: number): string =>
  `/assets/groups/${model.fixture.video.emulator.library.asset(model.assets[lender] ?? '')?.groupId}/shares`

const lend = step(
  'lend',
  fc.record({ ...pair, access: fc.constantFrom('use', 'use', 'read') }),
  async ({ lender, other, access }, model) => {
    const borrower = (lender + other) % 3
    const before = model.accessOf(lender, borrower)
    const body = { User: model.user(borrower).id, Access: access }
    const reply = await model.user(lender).ask('POST', sharesPath(model, lender), body)
    if (model.withdrawn.has(lender)) return assert.equal(reply.status, 409, reply.text)
    assert.equal(reply.status, 200, reply.text)
    if (before === 'use' && access === 'read') await model.freeze(lender, borrower)
    model.lend(lender, borrower, access as 'read' | 'use', reply.json.Result.Id)
  },
)

const revoke = step('revoke', fc.record(pair), async ({ lender, other }, model) => {
  const borrower = (lender + other) % 3
  const share = model.shareOf(lender, borrower)
  if (share === undefined) return
  const reply = await model.user(lender).ask('DELETE', `${sharesPath(model, lender)}/${share}`)
  assert.equal(reply.status, 200, reply.text)
  model.endShare(lender, borrower)
  await model.freeze(lender, borrower)
})

const createWithLent = step(
  'create with an asset of another user',
  fc.record({ ...pair, draft: fc.boolean() }),
  async ({ lender, other, draft }, model) => {
    const owner = (lender + other) % 3
    const secret = model.newSecret()
    const content = [text(secret), media('image', `asset://${model.assets[lender]}`, 'reference_image')]
    const body = { model: MODEL_25, content, ...(draft && { draft: true }) }
    const reply = await model.user(owner).send('POST', '', body)
    model.checkLeaks(owner, reply)
    if (model.accessOf(lender, owner) !== 'use')
      return assert.equal(`${reply.status} ${reply.code}`, '403 asset_not_found', reply.text)
    assert.equal(reply.status, 200, reply.text)
    model.tasks.push({
      ...{ id: reply.json.id, owner, secret, status: 'queued', deleted: false, usesAsset: false },
      lender,
    })
  },
)

/** A video of each draft that shows an asset of another user. */
const createFromLentDraft = step('create from a draft with a lent asset', fc.record(pair), async (given, model) => {
  const owner = (given.lender + given.other) % 3
  const task = model.own(owner).find(({ lender, status }) => lender === given.lender && status === 'succeeded')
  if (!task) return
  const content = [{ type: 'draft_task', draft_task: { id: task.id } }]
  const reply = await model.user(owner).send('POST', '', { model: MODEL_25, content })
  model.checkLeaks(owner, reply)
  if (reply.status !== 200) return
  assert.equal(model.accessOf(given.lender, owner), 'use', 'a video of a draft that is not lent any more')
  model.tasks.push({
    ...{ id: reply.json.id, owner, secret: task.secret, status: 'queued', deleted: false, usesAsset: false },
    lender: given.lender,
  })
})

/** Shows what has become of the tasks with lent assets. */
const lookAtLent = step('look at tasks with lent assets', fc.record(pair), async ({ lender, other }, model) => {
  const owner = (lender + other) % 3
  const upstream = model.upstreamTasks().filter(({ endTime, gone }) => endTime === undefined && !gone)
  for (const { id } of upstream.slice(0, 2)) model.fixture.video.emulator.video.finish(id)
  for (const task of model.own(owner).filter((each) => each.lender === lender)) {
    const reply = await model.user(owner).get(task.id)
    model.checkTask(owner, reply.json)
  }
})

/** Steps in which users lend their assets to one another, more often than they do anything else. */
export const lendSteps = [
  { arbitrary: lend, weight: 6 },
  { arbitrary: revoke, weight: 5 },
  { arbitrary: createWithLent, weight: 12 },
  { arbitrary: createFromLentDraft, weight: 6 },
  { arbitrary: lookAtLent, weight: 6 },
]

const withdraw = step('withdraw the consent of the person', fc.record({ of: pair.lender }), async ({ of }, model) => {
  const path = sharesPath(model, of).replace(/shares$/, 'consent/withdraw')
  const reply = await model.user(of).ask('POST', path)
  assert.equal(`${reply.status} ${reply.json.Result?.Status}`, '200 withdrawn', reply.text)
  if (model.withdrawn.has(of)) return
  model.withdrawn.add(of)
  for (const borrower of [0, 1, 2]) {
    model.endShare(of, borrower)
    await model.freeze(of, borrower)
  }
})

const createOwnDraft = step(
  'create a draft with an own asset',
  fc.record({ of: pair.lender }),
  async ({ of }, model) => {
    const secret = model.newSecret()
    const content = [text(secret), media('image', `asset://${model.assets[of]}`, 'reference_image')]
    const reply = await model.user(of).send('POST', '', { model: MODEL_25, content, draft: true })
    if (model.withdrawn.has(of)) return assert.equal(`${reply.status} ${reply.code}`, '403 asset_not_found', reply.text)
    assert.equal(reply.status, 200, reply.text)
    model.tasks.push({ ...{ id: reply.json.id, owner: of, secret, status: 'queued', deleted: false }, usesAsset: true })
  },
)

/** A video of each draft that shows the person in an own asset. */
const createFromOwnDraft = step(
  'create from a draft with an own asset',
  fc.record({ of: pair.lender, nth: fc.nat(9) }),
  async ({ of, nth }, model) => {
    const drafts = model.own(of).filter(({ usesAsset }) => usesAsset)
    const task = drafts[nth % Math.max(1, drafts.length)]
    if (!task) return
    const content = [{ type: 'draft_task', draft_task: { id: task.id } }]
    const reply = await model.user(of).send('POST', '', { model: MODEL_25, content })
    if (reply.status !== 200) return
    assert.ok(!model.withdrawn.has(of), 'a video of a draft whose person has withdrawn the consent')
    model.tasks.push({
      ...{ id: reply.json.id, owner: of, secret: task.secret, status: 'queued', deleted: false, usesAsset: false },
    })
  },
)

/** The same, and persons withdraw their consents: once each, so it is rare. */
export const consentSteps = [
  ...lendSteps,
  { arbitrary: createOwnDraft, weight: 6 },
  { arbitrary: createFromOwnDraft, weight: 6 },
  { arbitrary: withdraw, weight: 2 },
]
