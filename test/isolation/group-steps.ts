import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Reply } from '../support/gateway.ts'
import { expectedResponse, groupListFault, injectFault } from './faults.ts'
import { hostileText } from './hostile-text.ts'
import { checkGroup } from './list-check.ts'
import { groupId, listRequest, pick } from './list-request.ts'
import { checkError, checkExpected, checkInvalid, messages, sendChecked } from './send.ts'
import { fault, name, ownGroup, step, user } from './step.ts'

/** The validation error for a name. Undefined: the name is valid. */
export const nameError = (name: unknown): string | undefined => {
  if (typeof name !== 'string' || name === '') return 'Name is required'
  if ([...name].length > 64) return 'Name must be at most 64 characters'
  return name.includes('\0') ? 'Name must be well-formed text' : undefined
}

const descriptionError = (description: string): string | undefined => {
  if ([...description].length > 300) return 'Description must be at most 300 characters'
  return description.includes('\0') ? 'Description must be well-formed text' : undefined
}

export const createGroup = step(
  'create group',
  fc.record({
    user,
    name: fc.oneof({ arbitrary: name, weight: 12 }, { arbitrary: fc.constantFrom('', 7, null), weight: 1 }),
    description: fc.option(hostileText(), { freq: 3 }),
    more: fc.constantFrom(
      ...[{}, {}, {}, {}, {}, {}, {}, {}],
      { GroupType: 'AIGC' },
      { GroupType: 'LivenessFace' },
      { ProjectName: 'other' },
      { name: 'x' },
    ),
    fault,
  }),
  async ({ user, name, description, more, fault }, model, fixture) => {
    injectFault(fixture.emulator, fault, 'CreateAssetGroup')
    const body = { Name: name, ...(description !== null && { Description: description }), ...more }
    const reply = await sendChecked(fixture, model, { user, method: 'POST', path: '/assets/groups', body })
    if ('name' in more) return checkInvalid(reply)
    const error =
      nameError(name) ??
      (description === null ? undefined : descriptionError(description)) ??
      ('GroupType' in more && more.GroupType !== 'AIGC' ? 'GroupType only supports AIGC' : undefined)
    if (error) return checkError(reply, 400, error)
    const text = String(name)
    const holder = model.holderOf(user, 'AIGC', text)
    if (holder) return checkError(reply, 400, messages[holder])

    const expected = expectedResponse(fault, 200, 'create')
    checkExpected(reply, expected)
    if (!expected.applied) {
      if (expected.status === 502) model.block(user, 'AIGC', text)
      return
    }
    const [id, ...others] = model.newGroups()
    assert.ok(id !== undefined && others.length === 0, 'creates exactly one group')
    const made = expected.status === 200
    if (made) assert.equal(reply.json.Result.Id, id)
    else if (expected.status === 502) model.block(user, 'AIGC', text)
    model.groups.set(id, {
      ...{ id, type: 'AIGC', owner: made ? user : undefined, creator: made ? user : undefined, name: text },
      ...{ description: description ?? undefined, recordedAt: fixture.now() },
      upstream: { name: text, description: description ?? '' },
    })
  },
)

export const groupDetail = step(
  'group detail',
  fc.record({ user, group: pick(), fault: listRequest().map((request) => groupListFault(request.fault)) }),
  async ({ user, group, fault }, model, fixture) => {
    const id = groupId(model, user, group)
    injectFault(fixture.emulator, fault, 'ListAssetGroups')
    const reply = await sendChecked(fixture, model, {
      ...{ user, method: 'GET', path: groupPath(id), named: [id] },
      readsLent: true,
    })
    const shown = model.readsGroup(user, id) ? model.groups.get(id) : undefined
    if (!shown) return checkForeignGroup(reply, id)
    assert.equal(reply.status, 200, reply.text)
    checkGroup(fixture.emulator.library, shown, fault, reply.json.Result, model.accessOf(user, id))
  },
)

export const updateGroup = step(
  'update group',
  fc.record({
    user,
    group: pick(),
    method: fc.constantFrom('PUT', 'PATCH'),
    name: fc.option(name, { freq: 4 }),
    description: fc.option(hostileText(), { freq: 2 }),
    smuggled: fc.option(fc.record({ group: pick(), form: fc.constantFrom('Id', 'GroupId', 'group_id', 'nested') }), {
      freq: 4,
    }),
    fault,
  }),
  async ({ user, group, method, name, description, smuggled, fault }, model, fixture) => {
    const id = groupId(model, user, group)
    const other = smuggled && groupId(model, user, smuggled.group)
    const body = {
      ...(name !== null && { Name: name }),
      ...(description !== null && { Description: description }),
      ...(smuggled && (smuggled.form === 'nested' ? { More: [{ GroupIds: [other] }] } : { [smuggled.form]: other })),
    }
    injectFault(fixture.emulator, fault, 'UpdateAssetGroup')
    const named = [id, ...(other === null ? [] : [other])]
    const reply = await sendChecked(fixture, model, { user, method, path: groupPath(id), body, named })
    const own = ownGroup(model, user, id)
    if (!own) return checkForeignGroup(reply, id)
    const error =
      (name === null ? undefined : nameError(name)) ??
      (description === null ? undefined : descriptionError(description))
    if (error) return checkError(reply, 400, error)
    if (smuggled?.form === 'Id' && other !== id) return checkInvalid(reply)
    if (smuggled && smuggled.form !== 'Id' && !model.ownsGroup(user, other)) {
      return checkError(reply, 403, messages.group)
    }
    const renamed = name !== null && name !== own.name
    const holder = renamed ? model.holderOf(user, own.type, name) : undefined
    if (holder) return checkError(reply, 400, messages[holder])

    const status = own.upstream ? (name === null && description === null ? 400 : 200) : 404
    const expected = expectedResponse(fault, status, 'change')
    checkExpected(reply, expected)
    if (expected.applied && own.upstream) {
      own.upstream = { name: name ?? own.upstream.name, description: description ?? own.upstream.description }
    }
    if (expected.status === 200) {
      own.name = name ?? own.name
      own.description = description ?? own.description
    } else if (renamed && expected.status === 502) {
      model.block(user, own.type, name)
    }
  },
)

export const deleteGroup = step(
  'delete group',
  fc.record({ user, group: pick(), fault }),
  async ({ user, group, fault }, model, fixture) => {
    const id = groupId(model, user, group)
    injectFault(fixture.emulator, fault, 'DeleteAssetGroup')
    const reply = await sendChecked(fixture, model, { user, method: 'DELETE', path: groupPath(id), named: [id] })
    const own = ownGroup(model, user, id)
    if (!own) return checkForeignGroup(reply, id)
    const normal = !own.upstream ? 404 : own.type === 'LivenessFace' ? 403 : 200
    const expected = expectedResponse(fault, normal, 'change')
    checkExpected(reply, expected)
    if (expected.applied) model.removeGroup(own)
    if (expected.status === 200 || (normal === 404 && expected.shows === 'normal')) own.owner = undefined
  },
)

const groupPath = (id: string): string => `/assets/groups/${encodeURIComponent(id)}`

const checkForeignGroup = (reply: Reply, id: string): void => {
  // Such an id makes the path that of the group list, or no valid path.
  if (id === '' || /^\.{1,2}$/.test(id)) assert.ok(reply.status >= 400 || reply.json.Result !== undefined)
  else checkError(reply, 403, messages.group)
}
