import { describe, expect, test } from 'bun:test'
import { hashToken } from '../../plugins/api-token/index.ts'
import { ask, rejection } from '../web-session/fixture.ts'
import { openTokenFixture, path } from './fixture.ts'

describe('a token of the user', () => {
  test('gets a new secret by a rotation, keeps its id and rights, and the old secret ends with the overlap', async () => {
    const { app, asAnn, asBob, clock, store } = await openTokenFixture()
    const { token: first, ...info } = (await ask(app, 'POST', path, asAnn, { label: 'ci', scopes: ['media'] })).json
      .token
    const works = async (secret: string) =>
      (await ask(app, 'GET', '/asset', { authorization: `Bearer ${secret}` })).status === 200
    const rotate = (headers: Record<string, string>, body?: object) =>
      ask(app, 'POST', `${path}/${info.id}/rotate`, headers, body)
    const rotated = await rotate(asAnn, { overlap_seconds: 60 })
    const { token: second, ...shown } = rotated.json.token
    expect(rotated.headers.get('cache-control')).toBe('no-store')
    const old_secret_until = new Date(clock.now + 60_000).toISOString()
    expect(shown).toEqual({ ...info, start: second.slice(0, 9), old_secret_until })
    expect((await ask(app, 'GET', path, asAnn)).json.tokens).toEqual([shown])
    expect([await works(first), await works(second)]).toEqual([true, true])
    clock.now += 60_000
    expect([await works(first), await works(second)]).toEqual([false, true])
    const { token: third } = (await rotate(asAnn)).json.token
    // The plugin asks for the revision at most twice a second.
    expect(await store.ownerOf(hashToken(second))).toBeUndefined()
    expect(await works(third)).toBe(true)

    expect((await rotate(asBob)).json).toEqual(rejection('token not found'))
    const { origin: _, ...foreign } = asAnn as Record<string, string>
    expect((await rotate({ ...foreign, origin: 'https://evil.example' })).status).toBe(403)
    for (const overlap_seconds of [-1, 1.5, '60', 604_801, {}])
      expect((await rotate(asAnn, { overlap_seconds })).json).toEqual(
        rejection('overlap_seconds must be an integer from 0 to 604800'),
      )
    await ask(app, 'DELETE', `${path}/${info.id}`, asAnn)
    expect((await rotate(asAnn)).status).toBe(404)
  })

  test('is only rotated by a store that can, and by no user when an admin gave it more than users may have', async () => {
    const { app, asAnn, ann, store, clock } = await openTokenFixture()
    const token = {
      user: ann,
      hash: 'a'.repeat(64),
      start: 'sk-',
      createdAt: clock.now,
      scopes: ['text', 'admin'] as const,
    }
    const id = await store.addToken(token)
    const refused = await ask(app, 'POST', `${path}/${id}/rotate`, asAnn)
    expect([refused.status, refused.json]).toEqual([403, rejection('only an admin rotates a token with such scopes')])
    expect(await store.ownerOf(token.hash)).toMatchObject({ token: id })
    const { rotateOwnToken: _, ...older } = store
    const { app: other, asAnn: ann2 } = await openTokenFixture({ store: older })
    const made = (await ask(other, 'POST', path, ann2)).json.token
    expect(made.old_secret_until).toBeUndefined()
    expect((await ask(other, 'POST', `${path}/${made.id}/rotate`, ann2)).status).toBe(404)
  })
})
