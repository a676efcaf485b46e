import assert from 'node:assert/strict'
import fc from 'fast-check'
import { internalDetails } from '../support/gateway.ts'
import { nameError } from './group-steps.ts'
import { malformedTargets } from './hostile-text.ts'
import { names } from './list-request.ts'
import type { GroupType } from './model.ts'
import { errorBody, sendChecked } from './send.ts'
import { name, step, user } from './step.ts'

export const addFace = step(
  'adopt a LivenessFace group',
  fc.record({ user, name }),
  async ({ user, name }, model, fixture) => {
    if (nameError(name)) return
    const { id } = fixture.emulator.library.addGroup({ name, type: 'LivenessFace' })
    const adopter = model.users[user]
    assert.ok(adopter)
    const createdAt = fixture.now()
    const refused = await fixture.store.adoptGroup({ id, user: adopter.id, type: 'LivenessFace', name, createdAt })
    const adopted = model.holderOf(user, 'LivenessFace', name) === undefined
    assert.equal(refused === undefined, adopted, 'adopts a group exactly when its name is free')
    const owner = adopted ? user : undefined
    model.groups.set(id, {
      ...{ id, type: 'LivenessFace', owner, creator: owner, name, description: undefined },
      ...{ recordedAt: createdAt, upstream: { name, description: '' } },
    })
  },
)

export const addForeignGroup = step(
  'add a group without an owner',
  fc.record({ name: fc.constantFrom<string>(...names), type: fc.constantFrom<GroupType>('AIGC', 'LivenessFace') }),
  async ({ name, type }, model, fixture) => {
    const { library } = fixture.emulator
    const { id } = library.addGroup({ name, type })
    const asset = library.addAsset({ groupId: id, name })
    model.groups.set(id, {
      ...{ id, type, owner: undefined, creator: undefined, name, description: undefined },
      ...{ recordedAt: 0, upstream: { name, description: '' } },
    })
    model.assets.set(asset.id, { id: asset.id, group: id, name, recorded: false, deleted: false })
  },
)

export const sendMalformedTarget = step(
  'send a malformed target',
  fc.record({
    user,
    target: fc.constantFrom(...malformedTargets),
    method: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE'),
    own: fc.nat(20),
    other: fc.nat(20),
  }),
  async ({ user, target, method, own, other }, model, fixture) => {
    const owned = model.assetsOf(user)
    const others = model.othersAssets(user)
    const ids = [owned[own % owned.length]?.id ?? 'asset-1', others[other % others.length]?.id ?? 'asset-2'] as const
    const path = target.replaceAll('{own}', ids[0]).replaceAll('{other}', ids[1])
    const body = method === 'GET' || method === 'DELETE' ? undefined : { Name: 'cat' }
    const reply = await sendChecked(fixture, model, { user, method, path, body, named: [path, lenient(path)] })
    assert.ok(reply.status < 500, `${reply.status} for ${method} ${path}`)
    const all = new URL(`http://gateway/api/media/proxy${path}`).pathname
    const readable = model.readsAsset(user, ids[1]) ? `|${ids[1]}/?` : ''
    const reached = method === 'GET' && new RegExp(`^/api/media/proxy/assets/?(groups/?${readable})?$`).test(all)
    if (!reached) assert.ok(reply.status >= 400, `${reply.status} for ${method} ${path}`)
  },
)

export const sendUnauthenticated = step(
  'send without valid authentication',
  fc.record({
    user,
    form: fc.nat(7),
    target: fc.constantFrom('/assets', '/assets/groups', '/assets/{id}', '/assets/groups/{id}'),
    at: fc.nat(20),
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  }),
  async ({ user, form, target, at, method }, model, fixture) => {
    const { token } = model.users[user] ?? { token: '' }
    const authorization = [
      '',
      'Bearer',
      `Bearer ${token}x`,
      `Bearer ${token.toLowerCase()}`,
      `Basic ${token}`,
      token,
      `Bearer ${token} ${token}`,
      `Bearer sk-${'a'.repeat(43)}`,
    ][form]
    const ids = [...(target.includes('groups') ? model.groups : model.assets).keys()]
    const path = target.replace('{id}', ids[at % ids.length] ?? 'unknown')
    fixture.emulator.clearCalls()
    const response = await fetch(`${fixture.gateway.url}/api/media/proxy${path}`, {
      method,
      headers: { authorization: authorization ?? '', cookie: `session=${token}` },
      body: method === 'GET' || method === 'DELETE' ? undefined : '{"Name":"cat"}',
    })
    const text = await response.text()
    assert.doesNotMatch(text, internalDetails)
    const known = target.includes('{id}') ? method !== 'POST' : ['GET', 'POST'].includes(method)
    if (known) assert.equal(`${response.status} ${text}`, `401 ${errorBody('not authenticated')}`)
    else assert.equal(response.status, 405)
    assert.equal(fixture.emulator.calls.length, 0)
  },
)

export const changeUpstream = step(
  'change the upstream directly',
  fc.record({
    does: fc.constantFrom(
      'deletes an asset',
      'deletes a group',
      'renames an asset',
      'renames a group',
      'adds an asset',
    ),
    at: fc.nat(40),
    name: fc.constantFrom<string>(...names),
  }),
  async ({ does, at, name }, model, fixture) => {
    const { library } = fixture.emulator
    const groups = [...model.groups.values()].filter((group) => group.upstream)
    const assets = [...model.assets.values()].filter((asset) => !asset.deleted)
    const group = groups[at % groups.length]
    const asset = assets[at % assets.length]
    if (does === 'deletes an asset' && asset) {
      library.deleteAsset(asset.id)
      asset.deleted = true
    } else if (does === 'renames an asset' && asset) {
      library.renameAsset(asset.id, name)
      asset.name = name
    } else if (does === 'deletes a group' && group) {
      library.deleteGroup(group.id)
      model.removeGroup(group)
    } else if (does === 'renames a group' && group?.upstream) {
      library.changeGroup(group.id, { name })
      group.upstream = { ...group.upstream, name }
    } else if (does === 'adds an asset' && group) {
      const { id } = library.addAsset({ groupId: group.id, name, status: at % 2 ? 'Processing' : 'Active' })
      model.assets.set(id, { id, group: group.id, name, recorded: false, deleted: false })
    }
  },
)

/** A target as a tolerant server decodes it. */
const lenient = (target: string): string =>
  target.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
