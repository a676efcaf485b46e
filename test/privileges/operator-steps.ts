import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { createToken, hashToken } from '../../plugins/api-token/index.ts'
import { scopes } from '../../plugins/shared/identity/scopes.ts'
import { hashInvitation } from '../../plugins/web-session/index.ts'
import { goodPassword, modelLists, type Step } from './choice.ts'
import type { Person } from './model.ts'

/** What operators do on the port of the admin API: `now`, as the last enabled admin may go. */
export const operatorSteps: Readonly<Record<string, Step>> = {
  async changeRole(world, choice) {
    const person = choice.of(world.model.people)
    const role = choice.of(['user', 'admin'] as const)
    expect(await world.store.changeUser(person.id, { role }, { now: world.model.now })).toBe('changed')
    if (role === 'admin' && person.role !== 'admin') {
      world.model.endLogins(person)
      world.model.endLinks(person)
    }
    person.role = role
  },

  async disable(world, choice) {
    const person = choice.of(world.model.people)
    expect(await world.store.changeUser(person.id, { disabled: true }, { now: world.model.now })).toBe('changed')
    person.enabled = false
    world.model.endLogins(person)
    world.model.endLinks(person)
  },

  async enable(world, choice) {
    const person = choice.of(world.model.people)
    expect(await world.store.changeUser(person.id, { disabled: false }, { now: world.model.now })).toBe('changed')
    person.enabled = true
    world.model.endLogins(person)
  },

  async setPassword(world, choice) {
    const person = choice.of(world.model.people)
    const password = goodPassword()
    const outcome = await world.store.changeUser(person.id, { password: `#${password}` }, { now: world.model.now })
    expect(outcome).toBe(person.service ? 'service' : 'changed')
    if (person.service) return
    person.password = password
    world.model.endLogins(person)
    world.model.endLinks(person)
  },

  async addKey(world, choice) {
    const expiresAt = choice.number(3) === 0 ? world.model.now + 1_000 * (1 + choice.number(60)) : undefined
    await world.addKey(choice.of(world.model.people), choice.some(scopes), choice.of(modelLists), expiresAt)
  },

  async changeKey(world, choice) {
    const key = choice.of(world.model.keys)
    const [wanted, models] = [choice.some(scopes), choice.of(modelLists)]
    const outcome = await world.store.changeToken(key.id, { scopes: wanted, models: models ?? null })
    expect(outcome).toBe(key.revoked ? 'unknown' : 'changed')
    if (key.revoked) return
    key.scopes = wanted
    key.models = models
  },

  async rotateKey(world, choice) {
    const key = choice.of(world.model.keys)
    const [text, overlapMs] = [createToken(), 1_000 * choice.of([0, 5, 30])]
    const { now } = world.model
    const rotation = { hash: hashToken(text), start: text.slice(0, 9), now, oldUntil: now + overlapMs }
    expect(await world.store.rotateToken(key.id, rotation)).toBe(key.revoked ? 'unknown' : 'changed')
    if (!key.revoked) world.model.rotate(key, text, overlapMs)
  },

  async revokeKey(world, choice) {
    const key = choice.of(world.model.keys)
    expect(await world.store.revokeUserToken(key.id, world.model.now)).toBe(key.revoked ? 'unknown' : 'changed')
    key.revoked = true
  },

  async invite(world, choice) {
    const owner: Person = choice.of(world.model.people)
    const { now } = world.model
    const [secret, expiresAt] = [randomUUID(), now + 1_000 * (1 + choice.number(60))]
    const invitation = { hash: hashInvitation(secret), createdAt: now, expiresAt }
    const outcome = await world.store.addInvitation(owner.id, invitation)
    expect(outcome).toBe(owner.service ? 'service' : owner.enabled ? 'added' : 'disabled')
    if (outcome !== 'added') return
    world.model.endLinks(owner)
    world.model.links.push({ secret, owner, expiresAt, ended: false })
  },

  async endSessions(world, choice) {
    const owner = choice.of(world.model.people)
    await world.store.endSessions(owner.id)
    world.model.endLogins(owner)
  },

  async timePasses(world, choice) {
    world.model.now += 1_000 * choice.of([1, 4, 9, 30, 61])
  },
}
