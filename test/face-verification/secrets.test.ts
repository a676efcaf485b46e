import { describe, expect, test } from 'bun:test'
import { scene, statusOf } from './fixture.ts'

describe('secrets', () => {
  test('the link is in one answer; token and state are in none, nor anything of them in a log', async () => {
    const { ann, bob, ask, vendor, lines, store, clock } = await scene()
    const texts: string[] = []
    const keep = <Reply extends { text: string; headers: Headers }>(reply: Reply) => {
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
    keep(await ann.query(id))
    keep(await ask(vendor.callback().replace(token, `${token}x`)))
    // Upstreams repeat what they do not like.
    vendor.instead = ({ body }) => Response.json({ Error: `bad token ${body.BytedToken}` }, { status: 403 })
    keep(await ask(vendor.callback()))
    expect(keep(await ann.query(id)).status).toBe(502)
    vendor.instead = ({ body }) =>
      Response.json({}, { status: 500, headers: { 'x-request-id': `about-${body.BytedToken}` } })
    expect(keep(await ann.query(id)).status).toBe(502)
    vendor.instead = ({ body }) => Response.json({ Error: `bad address ${body.CallbackURL}` }, { status: 400 })
    expect(keep(await ann.create()).status).toBe(502)
    vendor.instead = undefined
    const { verification } = store
    store.verification = async () => {
      throw new Error('away')
    }
    keep(await ann.query(id))
    store.verification = verification
    keep(await bob.query(id))
    vendor.finish(undefined, token)
    await clock.pass(1_000)
    keep(await ann.query(id))
    keep(await ask(vendor.callback(token)))
    expect(await statusOf(store, id)).toBe('verified')
    const states = vendor
      .asked('CreateVisualValidateSession')
      .map(({ body }) => String(body.CallbackURL).split('/').at(-1) ?? '')
    expect(lines.length).toBeGreaterThan(5)
    for (const secret of [token, link, ...states]) {
      for (const text of [...texts, ...lines]) expect(text).not.toContain(secret)
    }
  })

  test('of a state only the hash is kept, of the link nothing, and of the token nothing once all is over', async () => {
    const { ann, ask, vendor, store } = await scene()
    const kept: string[] = []
    const { addVerification } = store
    store.addVerification = (wanted, reserved) => {
      kept.push(JSON.stringify(wanted))
      return addVerification(wanted, reserved)
    }
    const id = (await ann.create()).json.verification_id
    const { link = '', callback = '' } = vendor.sessions.get(vendor.token) ?? {}
    expect(kept.join()).not.toContain(callback.split('/').at(-1) ?? '')
    expect(kept.join()).not.toContain(link)
    expect((await store.verification(id))?.token).toBe(vendor.token)
    await ask(vendor.finish().callback)
    expect((await store.verification(id))?.token).toBeUndefined()
  })
})
