import { describe, expect, test } from 'bun:test'
import { linkSecretOf } from '../../plugins/shared/consent/link.ts'
import { checkRemoteServer } from '../support/checked-servers.ts'
import { arkOf, browse, faces, login, newToken, openFixture, password, send } from './fixture.ts'

describe.each(['rest', 'ark'] as const)('the log at level trace, with an upstream of kind %s', (kind) => {
  test('contains no password, cookie, token, link or callback state, also after errors', async () => {
    await using fixture = await openFixture()
    await fixture.addPerson('ann')
    const secret = 'a session secret of the test'
    const server = await fixture.start({
      ...(kind === 'ark' ? arkOf(fixture) : {}),
      LOG_LEVEL: 'trace',
      SESSION_SECRET: secret,
      TEXT_UPSTREAM_URL: fixture.emulator.text.url,
      TEXT_UPSTREAM_KEY: fixture.emulator.text.key,
    })
    const { url } = server
    // The upstream sends secrets in place of its own objects.
    await checkRemoteServer(url, { hasCallback: kind === 'ark', checked: 'none' })
    const ann = await browse(server, 'ann')
    await login(url, 'ann', {}, 'guess-of-another-caller')
    await login(url, 'password-in-the-wrong-field', {}, 'x')
    await send(url, 'POST', '/api/session', `{"name":"ann","password":"unfinished-password`, { origin: url })
    await ann.ask('GET', `/api/session?leak=${ann.cookie}`)
    const { id, token } = await newToken(ann)
    await send(url, 'GET', `/v1/models?key=${token}`, undefined, { authorization: `Bearer ${token}` })
    for (const name of ['x-api-key', 'api-key']) {
      expect((await send(url, 'GET', '/v1/models', undefined, { [name]: token })).status).toBe(200)
      expect((await send(url, 'GET', '/v1/models', undefined, { [name]: `${token}0` })).status).toBe(401)
    }
    await ann.ask('DELETE', `/api/tokens/${id}`)
    const started = (await ann.ask('POST', faces, {})).json
    const [session] = fixture.emulator.face.sessions()
    const { bytedToken = '', h5 = '', callbackUrl = '' } = session ?? {}
    const at = `${faces}/${started.verification_id}`
    const body = JSON.stringify({ error: { message: `${bytedToken} ${started.h5_url} ${callbackUrl}` } })
    const failing = { action: /VisualValidate/, times: 1 }
    const linkSecret = linkSecretOf(callbackUrl.split('/').at(-1) ?? '')
    const callback = new URL(fixture.emulator.face.finish(bytedToken, 'succeed') ?? '')
    fixture.emulator.faults.add({ kind: 'status', status: 500, body: body, ...failing })
    await send(kind === 'ark' ? url : callback.origin, 'GET', callback.pathname + callback.search)
    if (kind === 'ark') {
      await send(url, 'GET', `${callback.pathname}/more${callback.search}`)
      await send(url, 'POST', callback.pathname + callback.search)
      for (const path of ['', '/export', '/more/of/it']) await send(url, 'GET', `${faces}/consent/${linkSecret}${path}`)
      await send(url, 'POST', `${faces}/consent/${linkSecret}/withdraw`)
    }
    fixture.emulator.faults.add({ kind: 'status', status: 500, body: body, ...failing })
    await ann.ask('GET', at)
    fixture.emulator.faults.add({ kind: 'reset-before', ...failing })
    await ann.ask('GET', at)
    fixture.emulator.faults.add({ kind: 'not-json', body, ...failing })
    await ann.ask('GET', at)
    await ann.ask('GET', at)
    await ann.ask('DELETE', '/api/session')
    await server.kill('SIGTERM')

    const log = server.stdout() + server.stderr()
    expect(log).toContain('"path":"/api/session"')
    const link = new URL(started.h5_url)
    const secrets = [
      ...[password, 'guess-of-another-caller', 'password-in-the-wrong-field', 'unfinished-password'],
      ...ann.cookie.slice('session='.length).split('.'),
      ...[token, token.slice(3), secret, bytedToken, h5, callbackUrl.split('/').at(-1) ?? '', linkSecret],
      ...[...link.searchParams].filter(([, value]) => value.length > 8).map(([, value]) => value),
      ...(kind === 'ark' ? [fixture.emulator.ark.secretKey] : [fixture.emulator.rest.key]),
    ]
    expect(secrets.length).toBeGreaterThan(12)
    for (const one of secrets) {
      expect(one.length).toBeGreaterThan(6)
      for (const form of [one, encodeURIComponent(one)]) expect([form, log.includes(form)]).toEqual([form, false])
    }
  })
})

test('a start with credentials that are too short to be redacted warns, without them', async () => {
  await using fixture = await openFixture()
  const key = 'qzj7-x'
  const started = async (upstreamKey: string) => {
    const server = await fixture.start({ TEXT_UPSTREAM_URL: fixture.emulator.text.url, TEXT_UPSTREAM_KEY: upstreamKey })
    await server.kill('SIGTERM')
    return server.stderr()
  }
  const warned = await started(key)
  expect(JSON.parse(warned.split('\n')[0] ?? '')).toMatchObject({ level: 'warn', credentials: 1 })
  expect(warned).not.toContain(key)
  expect(await started('a-key-of-many-characters')).toBe('')
})
