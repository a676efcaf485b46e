import { describe, expect, test } from 'bun:test'
import { openFixture, statusOf } from './fixture.ts'

describe('secrets', () => {
  test('only one response contains the link; no response and no log line contains the token or the state', async () => {
    const { ann, bob, ask, vendor, lines, store, clock } = await openFixture()
    const texts: string[] = []
    const record = <Reply extends { text: string; headers: Headers }>(reply: Reply) => {
      texts.push(reply.text, JSON.stringify([...reply.headers]))
      return reply
    }
    const created = await ann.create()
    const id = created.json.verification_id
    const { token } = vendor
    const { link = '', callback: address = '' } = vendor.sessions.get(token) ?? {}
    const state = address.split('/').at(-1) ?? ''
    expect(created.text.replace(link, '')).not.toContain(token)
    expect(created.text).not.toContain(state)
    record(await ann.query(id))
    record(await ask(vendor.callback().replace(token, `${token}x`)))
    // An upstream may repeat a rejected value in its error.
    vendor.instead = ({ body }) => Response.json({ Error: `bad token ${body.BytedToken}` }, { status: 403 })
    record(await ask(vendor.callback()))
    expect(record(await ann.query(id)).status).toBe(502)
    vendor.instead = ({ body }) =>
      Response.json({}, { status: 500, headers: { 'x-request-id': `about-${body.BytedToken}` } })
    expect(record(await ann.query(id)).status).toBe(502)
    vendor.instead = ({ body }) => Response.json({ Error: `bad address ${body.CallbackURL}` }, { status: 400 })
    expect(record(await ann.create()).status).toBe(502)
    vendor.instead = undefined
    const { verification } = store
    store.verification = async () => {
      throw new Error('away')
    }
    record(await ann.query(id))
    store.verification = verification
    record(await bob.query(id))
    vendor.finish(undefined, token)
    await clock.pass(1_000)
    record(await ann.query(id))
    record(await ask(vendor.callback(token)))
    expect(await statusOf(store, id)).toBe('verified')
    const states = vendor
      .callsTo('CreateVisualValidateSession')
      .map(({ body }) => String(body.CallbackURL).split('/').at(-1) ?? '')
    expect(lines.length).toBeGreaterThan(5)
    for (const secret of [token, link, ...states]) {
      for (const text of [...texts, ...lines]) expect(text).not.toContain(secret)
    }
  })

  test('the store gets the hash of the state, not the state; no link; and the token only until the end', async () => {
    const { ann, ask, vendor, store } = await openFixture()
    const stored: string[] = []
    const { addVerification } = store
    store.addVerification = (verification, reserved) => {
      stored.push(JSON.stringify(verification))
      return addVerification(verification, reserved)
    }
    const id = (await ann.create()).json.verification_id
    const { link = '', callback = '' } = vendor.sessions.get(vendor.token) ?? {}
    expect(stored.join()).not.toContain(callback.split('/').at(-1) ?? '')
    expect(stored.join()).not.toContain(link)
    expect((await store.verification(id))?.token).toBe(vendor.token)
    await ask(vendor.finish().callback)
    expect((await store.verification(id))?.token).toBeUndefined()
  })
})
