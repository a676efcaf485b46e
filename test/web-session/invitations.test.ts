import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { AuditEvent } from '../../plugins/shared/audit.ts'
import { hashInvitation, ownAccount, webSession } from '../../plugins/web-session/index.ts'
import { createInvitationStore } from '../../src/store/users/invitations.ts'
import { createOwnAccountStore } from '../../src/store/users/own-accounts.ts'
import { ask, openFixture, publicUrl, rejection } from './fixture.ts'

const password = 'correct horse battery'
const notValid = rejection('this invitation is not valid: it was used, replaced or ended, or it has expired')

/** An app with an invitation of cay, who has no password. */
const openInvitations = async () => {
  const fixture = await openFixture({ addressOf: ({ headers }) => headers.get('x-address') ?? '192.0.2.1' })
  const { database, clock } = fixture
  const cay = await fixture.addUser('cay')
  const store = { ...fixture.store, ...createOwnAccountStore(database), ...createInvitationStore(database) }
  const events: AuditEvent[] = []
  const audit = {
    note: (event: AuditEvent) => void events.push(event),
    record: async (event: AuditEvent) => void events.push(event),
  }
  const hashed: string[] = []
  const hash = async (text: string) => {
    hashed.push(text)
    return `#${text}`
  }
  const app = new Elysia().use(webSession(fixture.options)).use(ownAccount({ ...fixture.options, store, hash, audit }))
  const invite = (secret: string, user = cay, expiresAt = clock.now + 1_000) =>
    store.addInvitation(user, { hash: hashInvitation(secret), createdAt: clock.now, expiresAt })
  await invite('secret')
  const redeem = (secret: string, body: unknown = { password }, headers: Record<string, string> = {}) =>
    ask(app, 'POST', `/api/invitations/${secret}`, headers, body)
  const show = (secret: string, headers: Record<string, string> = {}) =>
    ask(app, 'GET', `/api/invitations/${secret}`, headers)
  return { ...fixture, store, app, cay, invite, redeem, show, events, hashed }
}

describe('an invitation', () => {
  test('sets the password once; opening it does not use it up', async () => {
    const { redeem, show, login, cay, clock, events } = await openInvitations()
    const expires_at = new Date(clock.now + 1_000).toISOString()
    for (let count = 0; count < 3; count++)
      expect(await show('secret')).toMatchObject({
        status: 200,
        json: { success: true, invitation: { name: 'cay', expires_at } },
      })
    const { status, json, headers } = await redeem('secret')
    expect([status, json]).toEqual([200, { success: true, user: { id: cay, name: 'cay' } }])
    expect([headers.get('set-cookie'), headers.get('cache-control')]).toEqual([null, 'no-store'])
    expect((await login('cay', password)).status).toBe(200)
    expect(await redeem('secret')).toMatchObject({ status: 404, json: notValid })
    expect(await show('secret')).toMatchObject({ status: 404, json: notValid })
    const target = { kind: 'user', id: cay }
    expect(events[0]).toEqual({ action: 'user.password', user: cay, target, reason: 'invitation' })
  })

  test('is not used up by a password that is not good enough, or a wrong body', async () => {
    const { redeem, login, hashed } = await openInvitations()
    for (const body of [{ password: 'short' }, { password: 'cay' }, {}, { password: 7 }, '[]', '{'])
      expect((await redeem('secret', body)).status).toBe(400)
    expect((await redeem('secret', { password: 'x'.repeat(9_000) })).status).toBe(413)
    expect((await redeem('secret', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await redeem('secret', { password }, { origin: 'https://evil.test' })).status).toBe(403)
    expect(hashed).toEqual([])
    expect((await redeem('secret', { password }, { origin: publicUrl })).status).toBe(200)
    expect((await login('cay', password)).status).toBe(200)
  })

  test('that has expired, was replaced, or whose user was disabled, is unknown', async () => {
    const { redeem, invite, clock, store, cay, login, hashed } = await openInvitations()
    await invite('second')
    expect(await redeem('secret')).toMatchObject({ status: 404, json: notValid })
    clock.now += 1_000
    expect(await redeem('second')).toMatchObject({ status: 404, json: notValid })
    await invite('third')
    await store.changeUser(cay, { disabled: true }, { now: 1 })
    await store.changeUser(cay, { disabled: false }, { now: 1 })
    expect(await redeem('third')).toMatchObject({ status: 404, json: notValid })
    expect(await redeem('unknown')).toMatchObject({ status: 404, json: notValid })
    expect(hashed).toEqual([])
    expect((await login('cay', password)).status).toBe(401)
  })

  test('of two requests at once is used by one', async () => {
    const { redeem } = await openInvitations()
    const both = await Promise.all([redeem('secret'), redeem('secret', { password: `${password} two` })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
  })

  test('cannot be guessed: unknown secrets are counted by network, and no valid one resets the count', async () => {
    const { redeem, show, login } = await openInvitations()
    for (let count = 0; count < 10; count++) {
      expect((await redeem(`guess-${count}`)).status).toBe(404)
      expect((await show(`guessed-${count}`)).status).toBe(404)
      if (count === 5) expect((await show('secret')).status).toBe(200)
    }
    const blocked = await redeem('guess')
    expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await show('secret')).status).toBe(429)
    expect((await login('ann', 'right', { 'x-address': '192.0.2.1' })).status).toBe(429)
    expect((await show('secret', { 'x-address': '198.51.100.7' })).status).toBe(200)
  })

  test('has a secret of any form, and 404 for all that are not valid', async () => {
    const { show } = await openInvitations()
    for (const secret of ['x'.repeat(3_000), '%00', '..%2Fsecret', 'SECRET', '%F0%9F%98%80'])
      expect((await show(secret)).status).toBe(404)
  })
})
