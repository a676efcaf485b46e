import assert from 'node:assert/strict'
import fc from 'fast-check'
import { addWaitingTask } from '../../asset-slots/fixture.ts'
import { openStream } from '../../asset-slots/text-fixture.ts'
import { until } from '../../support/until.ts'
import type { Account } from './fixture.ts'
import { checkShown, readAll } from './list.ts'
import { exists, type Model, type ModelGroup, users } from './model.ts'

/** One step of a sequence. It works with every state of the model. */
export interface Step {
  readonly what: string
  run(model: Model): Promise<void>
}

const step = <Parameters extends object>(
  name: string,
  parameters: fc.Arbitrary<Parameters>,
  run: (parameters: Parameters, model: Model) => Promise<void>,
): fc.Arbitrary<Step> =>
  parameters.map((given) => ({ what: `${name} ${JSON.stringify(given)}`, run: (model) => run(given, model) }))

const user = fc.constantFrom(...users)
const name = fc.constantFrom('cat', 'dog', 'cat and dog')

/** How a step chooses an asset when it runs. */
const pick = fc.record({
  of: fc.constantFrom('own', 'own', 'own', 'own', 'other', 'hidden', 'deleted', 'unknown'),
  at: fc.nat(50),
})

interface Pick {
  readonly of: string
  readonly at: number
}

const idOf = (model: Model, user: string, { of, at }: Pick): string => {
  const ids: Readonly<Record<string, readonly string[]>> = {
    own: model.assetsOf(user).map(({ id }) => id),
    other: model.assets.filter(({ owner }) => owner !== user).map(({ id }) => id),
    hidden: [...model.hidden],
    deleted: model.assets.filter((asset) => !exists(asset)).map(({ id }) => id),
  }
  const some = ids[of] ?? []
  return some[at % some.length] ?? 'asset-20200101000000-zzzzz'
}

/** Sends a request to the library, and checks what each response must be. */
const send = async (model: Model, user: string, method: string, path: string, body?: unknown, named = '') => {
  const { fixture } = model
  const reply = await fixture.as(user, () => fixture.process.ask(user, method, path, body))
  model.checkUpstream()
  model.checkNoLeak(user, reply.text, [named])
  return reply
}

const addGroup = async (model: Model, user: string): Promise<ModelGroup> => {
  const { status, json } = await send(model, user, 'POST', '/assets/groups', { Name: `g${model.groups.length}` })
  assert.equal(status, 200)
  const { Id: id } = json.Result
  const account = model.fixture.accounts.find(({ emulator }) => emulator.library.group(id))
  assert.ok(account, 'no account has the group')
  const group = { id, owner: user, account, isDeleted: false }
  model.groups.push(group)
  return group
}

/** A group of a user that lies on an account, and that the operator has recorded. */
const addGroupOn = async (model: Model, user: string, account: Account): Promise<ModelGroup> => {
  const name = `g${model.groups.length}`
  const { id } = account.emulator.library.addGroup({ name })
  const record = { id, user, type: 'AIGC', name, createdAt: 1 }
  // The record of a group on the first account may name none.
  const isNamed = account.name !== undefined && (account !== model.fixture.accounts[0] || model.groups.length % 2 === 0)
  await model.fixture.store.adoptGroup({ ...record, ...(isNamed && { account: account.name }) })
  const group = { id, owner: user, account, isDeleted: false }
  model.groups.push(group)
  return group
}

const createGroup = step(
  'create a group',
  fc.record({ user, account: fc.constantFrom(0, 1, null) }),
  async ({ user, account: at }, model) => {
    const account = at === null ? undefined : model.fixture.accounts[at]
    await (account ? addGroupOn(model, user, account) : addGroup(model, user))
  },
)

const addAsset = async (model: Model, user: string, group: ModelGroup, name: string): Promise<void> => {
  const { fixture } = model
  const { process } = fixture
  const before = process.originals.keys.size
  const wanted = { GroupId: group.id, Name: name, URL: 'https://files.example/a.png', AssetType: 'Image' }
  const made = await fixture.as(user, () => process.ask(user, 'POST', '/assets', wanted))
  const isOwn = group.owner === user && !group.isDeleted
  assert.equal(made.status, isOwn ? 200 : 403, made.text)
  assert.equal(process.originals.keys.size, before + (isOwn ? 1 : 0), 'the originals')
  if (!isOwn) return
  const { Id: id } = made.json.Result
  model.assets.push({
    ...{ id, owner: user, group, name, isDeleted: false, isActive: false, createTime: undefined, updateTime: '' },
  })
  model.checkUpstream()
  model.checkNoLeak(user, made.text, [])
  // What has never been seen active keeps its slot.
  await showAsset(model, user, id)
}

const createAsset = step(
  'create an asset',
  fc.record({ user, name, group: fc.nat(20), isAnyones: fc.nat(7).map((seven) => seven === 7) }),
  async ({ user, name, group: at, isAnyones }, model) => {
    const groups = isAnyones ? model.groups : model.groupsOf(user)
    const group = groups[at % groups.length]
    if (group) await addAsset(model, user, group, name)
  },
)

const detail = step('read an asset', fc.record({ user, pick }), ({ user, pick }, model) =>
  showAsset(model, user, idOf(model, user, pick)),
)

const showAsset = async (model: Model, user: string, id: string): Promise<void> => {
  const { status, json, text } = await send(model, user, 'GET', `/assets/${id}`, undefined, id)
  const own = model.own(user, id)
  if (own) {
    assert.equal(status, 200, text)
    checkShown(own, json.Result)
  } else checkDenied(model, user, id, status, text)
}

/** The same answer for all that the user does not have, except that an owner learns that an asset is deleted. */
const checkDenied = (model: Model, user: string, id: string, status: number, text: string): void => {
  const was = model.assets.find((asset) => asset.id === id)
  const mayKnow = was?.owner === user && !was.group.isDeleted
  assert.ok(status === 403 || (mayKnow && status === 404), text)
  if (status === 403) assert.equal(JSON.parse(text).error.message, 'asset not found in your asset group')
}

const rename = step('rename an asset', fc.record({ user, pick, name }), async ({ user, pick, name }, model) => {
  const id = idOf(model, user, pick)
  const { status, text } = await send(model, user, 'PUT', `/assets/${id}`, { Name: name }, id)
  const own = model.own(user, id)
  if (!own) return checkDenied(model, user, id, status, text)
  assert.equal(status, 200, text)
  own.name = name
  own.updateTime = new Date(model.fixture.process.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
})

const remove = step('delete an asset', fc.record({ user, pick }), async ({ user, pick }, model) => {
  const id = idOf(model, user, pick)
  const own = model.own(user, id)
  const { fixture } = model
  const { status, text } = await fixture.as(user, () => fixture.process.ask(user, 'DELETE', `/assets/${id}`))
  if (own) {
    assert.equal(status, 200, text)
    own.isDeleted = true
  } else checkDenied(model, user, id, status, text)
  model.checkUpstream()
})

const removeGroup = step('delete a group', fc.record({ user, at: fc.nat(20) }), async ({ user, at }, model) => {
  const group = model.groups[at % Math.max(1, model.groups.length)]
  if (!group) return
  const isOwn = group.owner === user && !group.isDeleted
  const { fixture } = model
  const { status, text } = await fixture.as(user, () =>
    fixture.process.ask(user, 'DELETE', `/assets/groups/${group.id}`),
  )
  assert.equal(status, isOwn ? 200 : 403, text)
  if (isOwn) group.isDeleted = true
  model.checkUpstream()
})

const list = step(
  'list assets',
  fc.record({
    ...{ user, pageSize: fc.integer({ min: 1, max: 4 }), isAscending: fc.boolean() },
    name: fc.option(name, { freq: 3 }),
    group: fc.option(fc.nat(20), { freq: 3 }),
    status: fc.option(fc.constantFrom('Active', 'Processing'), { freq: 4 }),
  }),
  (request, model) => readAll(request, model, send),
)

/** A video task gets the upstream's ids of its assets, as soon as they are all there. */
const video = step('make a video', fc.record({ user, first: pick, second: fc.option(pick) }), async (given, model) => {
  const { user, first, second } = given
  const { fixture } = model
  const { assets } = fixture.process
  const named = [...new Set([first, ...(second ? [second] : [])].map((pick) => idOf(model, user, pick)))]
  // A task uses the assets of one account.
  const ids = named.filter((id) => model.accountOf(id) === model.accountOf(named[0] ?? ''))
  const request = new Request('http://localhost/')
  for (const id of ids) {
    const checked = fixture.as(user, () => assets.asset(user, id, request))
    if (model.own(user, id)) assert.equal((await checked)?.group?.account, model.accountOf(id)?.name)
    // The upstream refuses what is deleted.
    else if (model.had(user, id)) return checked.then(noValue, noValue)
    else return assert.rejects(checked, `a video uses ${id}`)
  }
  const task = `cgt-20300101000000-${String(model.tasks++).padStart(4, '0')}`
  await addWaitingTask(fixture.store, task, user, ids)
  try {
    for (let tries = 0; tries < 10; tries++) {
      const placed = await assets.place?.(ids, task)
      model.checkUpstream()
      if (!placed) continue
      assert.ok(model.hasRoomFor(ids), 'there is no room')
      assert.deepEqual([...placed.keys()].toSorted(), ids.toSorted())
      for (const [own, upstreamId] of placed) assert.deepEqual(model.ownIdsOf([upstreamId]), [own])
      return
    }
    assert.ok(!model.hasRoomFor(ids), `there is room for ${ids}`)
  } finally {
    await fixture.store.cancelWaitingVideoTask(user, task, 1)
    // It counts among those that wait for a while.
    await fixture.process.clock.pass(16_000)
  }
})

const noValue = (): void => {}

/** A text request, which stays open. */
const chat = step(
  'begin a text request',
  fc.record({ user, first: pick, second: fc.option(pick) }),
  async ({ user, first, second }, model) => {
    const { fixture } = model
    const { process } = fixture
    const ids = [...new Set([first, ...(second ? [second] : [])].map((pick) => idOf(model, user, pick)))]
    const own = ids.filter((id) => model.own(user, id))
    // The upstream of texts reads the assets of the first account.
    const isElsewhere = own.some((id) => model.accountOf(id) !== fixture.accounts[0])
    const calls = process.calls.length
    let response: Response | undefined
    const responding = fixture
      .as(user, () => process.chat(user, ids))
      .then((got) => {
        response = got
        return got
      })
    const isOver = () => response !== undefined || process.calls.length > calls
    // A request whose assets never come ends in time, also if it was not recorded that it waits.
    await until(async () => {
      if (isOver() || (await fixture.isWaiting())) return true
      await process.clock.pass(100)
      return false
    })
    // It waits in vain: nothing ends meanwhile.
    if (!isOver()) await process.clock.pass(31_000)
    await until(isOver)
    model.checkUpstream()
    const call = process.calls[calls]
    if (!call) {
      const { status } = await responding
      // Of an own one, it says that it was deleted.
      const isRefused = isElsewhere || ids.some((id) => !model.had(user, id))
      const expected = isRefused ? 403 : own.length < ids.length ? 400 : 503
      const isGone = ids.some((id) => !model.own(user, id) && model.had(user, id))
      assert.ok(status === expected || (isGone && status === 403), `${status}, and not ${expected}`)
      assert.ok(expected !== 503 || !model.hasRoomFor(own), `there is room for ${own}`)
      model.checkNoLeak(user, await (await responding).text(), ids)
      return
    }
    for (const id of ids) assert.ok(model.own(user, id), `a text request uses ${id}`)
    assert.ok(!isElsewhere, 'a text request uses an asset of another account')
    assert.ok(model.hasRoomFor(own), 'there is no room')
    assert.deepEqual(model.ownIdsOf(call.assets), ids)
    const stream = openStream()
    call.answer(stream.response)
    const text = (await responding).text()
    model.open.push({
      placed: new Map(ids.map((id, at) => [id, call.assets[at] ?? ''])),
      async end() {
        stream.end()
        model.checkNoLeak(user, await text, ids)
      },
    })
  },
)

const endRequest = step('end a text request', fc.record({ at: fc.nat(5) }), async ({ at }, model) => {
  const [ended] = model.open.splice(at % Math.max(1, model.open.length), 1)
  if (!ended) return
  await ended.end()
  await until(model.fixture.usesEnded)
})

const tick = step('time passes', fc.record({ ms: fc.constantFrom(400, 1_000, 20_000) }), async ({ ms }, model) => {
  await model.fixture.process.clock.pass(ms)
})

/** Each user has a group with two assets on each account: together more than there are slots. */
export const begin = async (model: Model): Promise<void> => {
  for (const user of users) {
    for (const account of model.fixture.accounts) {
      const group = await addGroupOn(model, user, account)
      for (const name of ['cat', 'dog']) await addAsset(model, user, group, name)
    }
  }
}

/** Each user reads all at the end: what a step has done to an asset may not have been seen since. */
export const end = async (model: Model): Promise<void> => {
  for (const request of model.open) await request.end()
  const all = { pageSize: 3, isAscending: true, name: null, group: null, status: null }
  for (const user of users) await readAll({ user, ...all }, model, send)
}

/** 10 to 50 steps of three users. */
export const sequences = (): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.oneof(
      { arbitrary: createGroup, weight: 2 },
      { arbitrary: createAsset, weight: 8 },
      { arbitrary: list, weight: 5 },
      { arbitrary: detail, weight: 4 },
      { arbitrary: rename, weight: 4 },
      { arbitrary: remove, weight: 2 },
      { arbitrary: removeGroup, weight: 1 },
      { arbitrary: video, weight: 4 },
      { arbitrary: chat, weight: 4 },
      { arbitrary: endRequest, weight: 4 },
      { arbitrary: tick, weight: 2 },
    ),
    { minLength: 10, maxLength: 50, size: 'max' },
  )
