import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Fixture } from '../fixture.ts'
import { groupId, pick } from '../list-request.ts'
import type { Model, ModelAct, ModelConsent } from '../model.ts'
import { checkError, messages, sendChecked } from '../send.ts'
import { step, user } from '../step.ts'

/** Links that a group has at most. */
const maxLinks = 10

const consentPath = (id: string): string => `/assets/groups/${encodeURIComponent(id)}/consent`

/** Such an id makes the path another one. */
const isOdd = (id: string): boolean => id === '' || /^\.{1,2}$/.test(id)

/** Mostly a group of a person: one's own, another's, or one that is gone. */
const facePick = fc.oneof({ arbitrary: fc.nat(40), weight: 6 }, { arbitrary: pick(), weight: 1 })

/** @param own whether the user's own groups come first */
const chosenFace = (model: Model, user: number, chosen: number | Parameters<typeof groupId>[2], own = true): string => {
  if (typeof chosen !== 'number') return groupId(model, user, chosen)
  const faces = [...model.groups.values()].filter(({ type }) => type === 'LivenessFace')
  const owned = faces.filter(({ id }) => model.readsConsent(user, id))
  const used = owned.filter(({ id }) => (model.consents.get(id)?.uses.length ?? 0) > 0)
  const best =
    !own || chosen % 4 === 0 ? faces : [chosen % 2 === 0 ? used : [], owned, faces].find(({ length }) => length > 0)
  return best?.[chosen % best.length]?.id ?? 'group-20260101000000-zzzzz'
}

/** Sends a request about the consent of a group. Undefined: the user may not, and the response was checked. */
const askConsent = async (
  [user, id]: readonly [number, string],
  [method, path]: readonly [string, string],
  model: Model,
  fixture: Fixture,
) => {
  const reply = await sendChecked(fixture, model, { user, method, path: `${consentPath(id)}${path}`, named: [id] })
  assert.equal(fixture.emulator.calls.length, 0)
  for (const { links } of model.consents.values())
    for (const { secret } of links) assert.ok(!reply.text.includes(secret), 'shows the secret of a link')
  if (isOdd(id)) assert.ok(reply.status >= 400)
  else if (model.readsConsent(user, id)) return reply
  else if (model.ownsGroup(user, id)) checkError(reply, 404, messages.consent)
  else checkError(reply, 403, messages.group)
  return undefined
}

const statusOf = (consent: ModelConsent | undefined): string =>
  consent?.deletion ? 'deleting' : consent?.withdrawal ? 'withdrawn' : 'active'

const timeOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00')

const actOf = (act: ModelAct, model: Model) =>
  act.by === 'owner'
    ? { Time: timeOf(act.at), By: 'owner', User: model.users[act.user]?.id }
    : { By: 'person', LinkFrom: model.users[act.linkFrom]?.id }

/** The time of a person's act is not compared: the pages of persons have another clock. */
const timed = <Act extends { readonly Time?: unknown; readonly By: unknown }>({ Time, ...act }: Act) =>
  act.By === 'person' ? act : { Time, ...act }

const checkConsent = (shown: Record<string, never>, id: string, model: Model): void => {
  const consent = model.consents.get(id)
  const { Withdrawal, Deletion, ...rest } = shown as Record<string, never> & {
    readonly Withdrawal?: { readonly By: string }
    readonly Deletion?: { readonly By: string }
  }
  const usedAt = consent?.usedAt
  assert.deepEqual(rest, {
    ...{ GroupId: id, Status: statusOf(consent) },
    ...(usedAt !== undefined && { LastUseTime: timeOf(usedAt) }),
  })
  assert.deepEqual(Withdrawal && timed(Withdrawal), consent?.withdrawal && actOf(consent.withdrawal, model))
  const numbers = { Assets: 0, Results: 0, Uses: 0 }
  assert.deepEqual(Deletion && timed(Deletion), consent?.deletion && { ...actOf(consent.deletion, model), ...numbers })
}

const checkUses = (shown: readonly Record<string, unknown>[], id: string, model: Model): void => {
  const expected = (model.consents.get(id)?.uses ?? []).map(({ task, user, assets }) => ({
    ...{ TaskId: task, User: model.users[user]?.id, AssetIds: assets.toSorted() },
  }))
  const byTask = (a: { TaskId: unknown }, b: { TaskId: unknown }) => (String(a.TaskId) < String(b.TaskId) ? -1 : 1)
  assert.deepEqual(
    shown.map(({ TaskId, User, AssetIds }) => ({ TaskId, User, AssetIds })).toSorted(byTask),
    expected.toSorted(byTask),
  )
}

/** The effects of an act of somebody on the ledger and on what is lent. */
const withdrawn = (model: Model, id: string, act: ModelAct, deletes: boolean): void => {
  const consent = model.ledgerOf(id)
  assert.ok(consent)
  consent.withdrawal ??= act
  if (deletes) consent.deletion ??= act
  model.shares = model.shares.filter(({ group }) => group !== id)
}

export const readConsent = step(
  'read a consent',
  fc.record({ user, group: facePick, of: fc.constantFrom('', '/uses', '/export') }),
  async ({ user, group, of }, model, fixture) => {
    const id = chosenFace(model, user, group)
    const reply = await askConsent([user, id], ['GET', of], model, fixture)
    if (!reply) return
    assert.equal(reply.status, 200, reply.text)
    if (of === '') return checkConsent(reply.json.Result, id, model)
    if (of === '/uses') {
      checkUses(reply.json.Result.Items, id, model)
      return assert.equal(reply.json.Result.TotalCount, model.consents.get(id)?.uses.length ?? 0)
    }
    checkConsent(reply.json.Consent, id, model)
    checkUses(reply.json.Uses, id, model)
  },
)

export const withdraw = step(
  'withdraw a consent as a user',
  fc.record({ user, group: facePick, does: fc.constantFrom('withdraw', 'withdraw', 'delete') }),
  async ({ user, group, does }, model, fixture) => {
    const id = chosenFace(model, user, group)
    const reply = await askConsent([user, id], ['POST', `/${does}`], model, fixture)
    if (!reply) return
    assert.equal(reply.status, 200, reply.text)
    withdrawn(model, id, { by: 'owner', user, at: fixture.now() }, does === 'delete')
    checkConsent(reply.json.Result, id, model)
  },
)

export const addLink = step(
  'make a link for a person',
  fc.record({ user, group: facePick }),
  async ({ user, group }, model, fixture) => {
    const id = chosenFace(model, user, group)
    const reply = await askConsent([user, id], ['POST', '/links'], model, fixture)
    const consent = reply && model.ledgerOf(id)
    if (!consent) return
    if (consent.links.length === maxLinks) return assert.equal(reply.status, 429, reply.text)
    assert.equal(reply.status, 200, reply.text)
    const [, secret = ''] = /\/consent\/([\w-]{43})$/.exec(reply.json.Result.URL) ?? []
    consent.links.push({ secret, madeBy: user })
  },
)

const titles: Readonly<Record<string, string>> = {
  ...{ active: 'Your consent', withdrawn: 'Consent withdrawn', deleting: 'Being deleted' },
}

export const actAsPerson = step(
  'use the link of a person',
  fc.record({
    at: fc.nat(40),
    wrong: fc.nat(5).map((nth) => nth === 0),
    does: fc.constantFrom('', '', '/export', '/withdraw', '/delete'),
  }),
  async ({ at, wrong, does }, model, { gateway }) => {
    const links = [...model.consents.values()].flatMap((consent) => consent.links.map((link) => ({ consent, link })))
    const found = links[at % links.length]
    const secret = wrong || !found ? randomUUID().padEnd(43, 'A') : found.link.secret
    const method = does === '/withdraw' || does === '/delete' ? 'POST' : 'GET'
    const response = await fetch(`${gateway.url}/api/media/face-verifications/consent/${secret}${does}`, {
      ...{ method, redirect: 'manual' },
    })
    const text = await response.text()
    if (wrong || !found) return assert.equal(response.status, 404, text)
    const { group, uses } = found.consent
    if (method === 'POST') {
      assert.equal(response.status, 303, text)
      return withdrawn(model, group, { by: 'person', linkFrom: found.link.madeBy }, does === '/delete')
    }
    assert.equal(response.status, 200, text)
    if (does === '') return assert.equal(/<h1>([^<]*)/.exec(text)?.[1], titles[statusOf(found.consent)])
    const { Consent, Uses } = JSON.parse(text)
    checkConsent(Consent, group, model)
    checkUses(Uses, group, model)
    assert.equal(Uses.length, uses.length)
  },
)

export const showFace = step(
  'show a person in a text request, or continue what has shown one',
  fc.record({ user, group: fc.nat(40), earlier: fc.option(fc.nat(40)), shows: fc.boolean() }),
  async ({ user, group, earlier, shows }, model, { gateway }) => {
    const id = chosenFace(model, user, group)
    const asset = [...model.assets.values()].find((one) => one.group === id && !one.deleted)
    const own = model.responses.filter((response) => response.user === user)
    const previous = earlier === null ? undefined : own[earlier % own.length]
    const shown = shows || !previous ? asset : undefined
    if (!shown && !previous) return
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${model.users[user]?.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'doubao-seed-emulated', previous_response_id: previous?.id },
        input: [
          { role: 'user', content: shown ? [{ type: 'input_image', image_url: `asset://${shown.id}` }] : 'who is it?' },
        ],
      }),
    })
    const json = (await response.json()) as { id: string; error?: { code: string } }
    const persons = [...new Set([...(shown ? [id] : []), ...(previous?.persons ?? [])])]
    const allowed = (!shown || model.ownsGroup(user, id)) && !persons.some((person) => model.hasWithdrawn(person))
    // The upstream has forgotten the earlier response.
    if (allowed && json.error?.code === 'previous_response_not_found') return
    assert.equal(response.status, allowed ? 200 : 403, JSON.stringify(json))
    if (allowed) model.responses.push({ id: json.id, user, persons })
  },
)

/** As a task does that is about to be sent. */
export const useFace = step(
  'use the group of a person',
  fc.record({ user, group: fc.nat(40) }),
  async ({ user, group }, model, fixture) => {
    const lent = [...model.everLent].filter((each) => model.groups.get(each)?.type === 'LivenessFace')
    const id = lent[group % (2 * lent.length)] ?? chosenFace(model, user, group, false)
    const users = [0, 1, 2].filter((one) => model.readsGroup(one, id))
    const who = users[group % users.length] ?? user
    const assets = [...model.assets.values()].filter((asset) => asset.group === id).map((asset) => asset.id)
    if (assets.length === 0 || !model.groups.has(id)) return
    const use = { task: `cgt-${randomUUID()}`, user: who, assets: assets.slice(0, 3) }
    const used = await fixture.store.recordConsentUse({
      ...{ task: use.task, user: model.users[who]?.id ?? '', at: fixture.now() },
      assets: use.assets.map((asset) => ({ id: asset, group: id })),
    })
    const allowed = model.groups.get(id)?.owner !== undefined && !model.hasWithdrawn(id)
    assert.equal(used, allowed, 'a use is recorded exactly while the person consents')
    const consent = used ? model.ledgerOf(id) : undefined
    if (!consent) return
    consent.uses.push(use)
    consent.usedAt = fixture.now()
  },
)

/** The upstream loses the group of a person, and the owner deletes it. */
export const loseFace = step(
  'lose the group of a person',
  fc.record({ at: fc.nat(40) }),
  async ({ at }, model, fixture) => {
    const faces = [...model.groups.values()].filter(({ type, upstream }) => type === 'LivenessFace' && upstream)
    const group = faces[at % faces.length]
    if (group?.owner === undefined) return
    fixture.emulator.library.deleteGroup(group.id)
    model.removeGroup(group)
    const path = `/assets/groups/${group.id}`
    const reply = await sendChecked(fixture, model, { user: group.owner, method: 'DELETE', path, named: [group.id] })
    assert.equal(reply.status, 404, reply.text)
    group.owner = undefined
  },
)
