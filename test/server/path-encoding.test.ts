import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Reply } from '../support/gateway.ts'
import { arkOf, browse, openFixture, send } from './fixture.ts'

setDefaultTimeout(300_000)

/** Elysia passes no text for a parameter that it cannot decode. */
const notDecodable = ['%', '%ZZ', '%FF', '%C0%AF', '%ED%A0%80']

test('a path parameter that cannot be decoded names nothing: no route fails, with a credential or without', async () => {
  await using fixture = await openFixture()
  const id = await fixture.addPerson('root')
  await fixture.store.changeUser(id, { role: 'admin' }, { now: Date.now() })
  const server = await fixture.start({
    ...arkOf(fixture),
    ...{ TEXT_UPSTREAM_URL: fixture.emulator.text.url, TEXT_UPSTREAM_KEY: fixture.emulator.text.key },
    ...{ VIDEO_UPSTREAM_URL: fixture.emulator.video.url, VIDEO_UPSTREAM_KEY: fixture.emulator.video.key },
  })
  const admin = await browse(server, 'root')
  const made = await admin.ask('POST', `/api/admin/users/${id}/tokens`, { scopes: ['media', 'text', 'video', 'admin'] })
  const authorization = `Bearer ${made.json.token.token}`
  const document = (await send(server.url, 'GET', '/openapi/json')).json as { paths: Record<string, object> }
  const failed: unknown[] = []
  let count = 0
  const note = (method: string, path: string, { status, headers, text }: Reply) => {
    count++
    const isPage = headers.get('content-type')?.startsWith('text/html') === true
    if (status < 400 || status >= 500 || (!isPage && !text.startsWith('{'))) failed.push([method, path, status, text])
  }
  for (const [pattern, methods] of Object.entries(document.paths)) {
    if (!pattern.includes('{')) continue
    for (const method of Object.keys(methods).map((name) => name.toUpperCase())) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      for (const text of notDecodable) {
        const path = pattern.replace(/\{[^}]+\}/g, text)
        note(method, path, await send(server.url, method, path, body))
        note(method, path, await send(server.url, method, path, body, { authorization }))
        note(method, path, await admin.ask(method, path, body))
      }
    }
  }
  expect(failed).toEqual([])
  expect(count).toBeGreaterThan(500)
})
