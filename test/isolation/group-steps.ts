import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Reply } from '../support/gateway.ts'
import { checkGroup } from './list-check.ts'
import { groupId, listAsk, pick } from './list-request.ts'
import { naughty } from './naughty.ts'
import { name, ownGroup, step, trouble, user } from './step.ts'
import { ofGroups, outcomeOf, strike } from './trouble.ts'
import { ask, checkInvalid, checkOutcome, checkRefused, messages } from './turn.ts'

/** What the gateway says of a name before it asks anybody; undefined: nothing. */
export const faultOfName = (name: unknown): string | undefined => {
  if (typeof name !== 'string' || name === '') return 'Name is required'
  if ([...name].length > 64) return 'Name must be at most 64 characters'
  return name.includes('\0') ? 'Name must be well-formed text' : undefined
}

const faultOfDescription = (description: string): string | undefined => {
  if ([...description].length > 300) return 'Description must be at most 300 characters'
  return description.includes('\0') ? 'Description must be well-formed text' : undefined
}

export const createGroup = step(
  'create group',
  fc.record({
    user,
    name: fc.oneof({ arbitrary: name, weight: 12 }, { arbitrary: fc.constantFrom('', 7, null), weight: 1 }),
    description: fc.option(naughty(), { freq: 3 }),
    more: fc.constantFrom(
      ...[{}, {}, {}, {}, {}, {}, {}, {}],
      { GroupType: 'AIGC' },
      { GroupType: 'LivenessFace' },
      { ProjectName: 'other' },
      { name: 'x' },
    ),
    trouble,
  }),
  async ({ user, name, description, more, trouble }, model, world) => {
    strike(world.emulator, trouble, 'CreateAssetGroup')
    const body = { Name: name, ...(description !== null && { Description: description }), ...more }
    const reply = await ask(world, model, { user, method: 'POST', path: '/assets/groups', body })
    if ('name' in more) return checkInvalid(reply)
    const fault =
      faultOfName(name) ??
      (description === null ? undefined : faultOfDescription(description)) ??
      ('GroupType' in more && more.GroupType !== 'AIGC' ? 'GroupType only supports AIGC' : undefined)
    if (fault) return checkRefused(reply, 400, fault)
    const text = String(name)
    const holder = model.holderOf(user, 'AIGC', text)
    if (holder) return checkRefused(reply, 400, messages[holder])

    const outcome = outcomeOf(trouble, 200, 'create')
    checkOutcome(reply, outcome)
    if (!outcome.works) {
      if (outcome.status === 502) model.block(user, 'AIGC', text)
      return
    }
    const [id, ...others] = model.newGroups()
    assert.ok(id !== undefined && others.length === 0, 'creates exactly one group')
    const made = outcome.status === 200
    if (made) assert.equal(reply.json.Result.Id, id)
    else if (outcome.status === 502) model.block(user, 'AIGC', text)
    model.groups.set(id, {
      ...{ id, type: 'AIGC', owner: made ? user : undefined, maker: made ? user : undefined, name: text },
      ...{ description: description ?? undefined, recordedAt: world.now() },
      upstream: { name: text, description: description ?? '' },
    })
  },
)

export const groupDetail = step(
  'group detail',
  fc.record({ user, group: pick(), trouble: listAsk().map((asked) => ofGroups(asked.trouble)) }),
  async ({ user, group, trouble }, model, world) => {
    const id = groupId(model, user, group)
    strike(world.emulator, trouble, 'ListAssetGroups')
    const reply = await ask(world, model, { user, method: 'GET', path: groupPath(id), named: [id] })
    const own = ownGroup(model, user, id)
    if (!own) return checkForeignGroup(reply, id)
    assert.equal(reply.status, 200, reply.text)
    checkGroup(world.emulator.library, own, trouble, reply.json.Result)
  },
)

export const updateGroup = step(
  'update group',
  fc.record({
    user,
    group: pick(),
    method: fc.constantFrom('PUT', 'PATCH'),
    name: fc.option(name, { freq: 4 }),
    description: fc.option(naughty(), { freq: 2 }),
    smuggled: fc.option(fc.record({ group: pick(), form: fc.constantFrom('Id', 'GroupId', 'group_id', 'nested') }), {
      freq: 4,
    }),
    trouble,
  }),
  async ({ user, group, method, name, description, smuggled, trouble }, model, world) => {
    const id = groupId(model, user, group)
    const other = smuggled && groupId(model, user, smuggled.group)
    const body = {
      ...(name !== null && { Name: name }),
      ...(description !== null && { Description: description }),
      ...(smuggled && (smuggled.form === 'nested' ? { More: [{ GroupIds: [other] }] } : { [smuggled.form]: other })),
    }
    strike(world.emulator, trouble, 'UpdateAssetGroup')
    const named = [id, ...(other === null ? [] : [other])]
    const reply = await ask(world, model, { user, method, path: groupPath(id), body, named })
    const own = ownGroup(model, user, id)
    if (!own) return checkForeignGroup(reply, id)
    const fault =
      (name === null ? undefined : faultOfName(name)) ??
      (description === null ? undefined : faultOfDescription(description))
    if (fault) return checkRefused(reply, 400, fault)
    if (smuggled?.form === 'Id' && other !== id) return checkInvalid(reply)
    if (smuggled && smuggled.form !== 'Id' && !model.ownsGroup(user, other)) {
      return checkRefused(reply, 403, messages.group)
    }
    const renamed = name !== null && name !== own.name
    const holder = renamed ? model.holderOf(user, own.type, name) : undefined
    if (holder) return checkRefused(reply, 400, messages[holder])

    const status = own.upstream ? (name === null && description === null ? 400 : 200) : 404
    const outcome = outcomeOf(trouble, status, 'change')
    checkOutcome(reply, outcome)
    if (outcome.works && own.upstream) {
      own.upstream = { name: name ?? own.upstream.name, description: description ?? own.upstream.description }
    }
    if (outcome.status === 200) {
      own.name = name ?? own.name
      own.description = description ?? own.description
    } else if (renamed && outcome.status === 502) {
      model.block(user, own.type, name)
    }
  },
)

export const deleteGroup = step(
  'delete group',
  fc.record({ user, group: pick(), trouble }),
  async ({ user, group, trouble }, model, world) => {
    const id = groupId(model, user, group)
    strike(world.emulator, trouble, 'DeleteAssetGroup')
    const reply = await ask(world, model, { user, method: 'DELETE', path: groupPath(id), named: [id] })
    const own = ownGroup(model, user, id)
    if (!own) return checkForeignGroup(reply, id)
    const natural = !own.upstream ? 404 : own.type === 'LivenessFace' ? 403 : 200
    const outcome = outcomeOf(trouble, natural, 'change')
    checkOutcome(reply, outcome)
    if (outcome.works) model.loseGroup(own)
    if (outcome.status === 200 || (natural === 404 && outcome.shows === 'natural')) own.owner = undefined
  },
)

const groupPath = (id: string): string => `/assets/groups/${encodeURIComponent(id)}`

const checkForeignGroup = (reply: Reply, id: string): void => {
  // Then the path is that of the groups, or no path at all.
  if (id === '' || /^\.{1,2}$/.test(id)) assert.ok(reply.status >= 400 || reply.json.Result !== undefined)
  else checkRefused(reply, 403, messages.group)
}
