import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { app as chat, spent } from '../../examples/chat-for-your-users.ts'
import { app as identities } from '../../examples/identity-of-your-own.ts'
import { app as orders } from '../../examples/lists-of-another-api.ts'
import { app as books } from '../../examples/one-plugin-alone.ts'
import { counted, app as news } from '../../examples/relay-any-stream.ts'
import { app as folders } from '../../examples/store-of-your-own.ts'

interface App {
  handle(request: Request): Response | Promise<Response>
}

const ask = async (app: App, path: string, headers: Record<string, string> = {}) => {
  const response = await app.handle(new Request(`http://localhost${path}`, { headers }))
  return { status: response.status, text: await response.text() }
}

test('one-plugin-alone: pages a list by token', async () => {
  const first = JSON.parse((await ask(books, '/books?Author=Le%20Guin&PageSize=1&SortBy=Year')).text)
  expect(first).toMatchObject({ items: [{ title: 'The Dispossessed' }], totalCount: 2 })
  const second = JSON.parse(
    (await ask(books, `/books?Author=Le%20Guin&PageSize=1&SortBy=Year&NextToken=${first.nextToken}`)).text,
  )
  expect(second).toMatchObject({ items: [{ title: 'The Lathe of Heaven' }], nextToken: '' })
  expect((await ask(books, '/books?PageSize=many')).status).toBe(400)
})

test('lists-of-another-api: pages another API exactly, at any depth', async () => {
  const idsOf = async (query: string) => {
    const page = JSON.parse((await ask(orders, `/orders?SortOrder=Asc&PageSize=30&${query}`)).text)
    return { ids: page.items.map((order: { id: string }) => order.id), next: page.nextToken, total: page.totalCount }
  }
  const byTime = Array.from({ length: 2_500 }, (_, nth) => [Math.floor(nth / 3), `order-${nth}`] as const)
  byTime.sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
  for (const number of [1, 2, 33, 34, 50, 70, 84]) {
    const page = await idsOf(`PageNumber=${number}`)
    expect(page.ids).toEqual(byTime.slice((number - 1) * 30, number * 30).map(([, id]) => id))
    expect(page.total).toBe(2_500)
    if (page.next) expect((await idsOf(`NextToken=${page.next}`)).ids[0]).toBe(byTime[number * 30]?.[1])
  }
})

test('store-of-your-own: the store decides who owns a group', async () => {
  expect(await ask(folders, '/folders/f1', { 'x-user': 'ann' })).toEqual({ status: 200, text: 'Holidays, yours' })
  expect(await ask(folders, '/files/picture', { 'x-user': 'ann' })).toEqual({ status: 200, text: 'picture, yours' })
  expect((await ask(folders, '/files/picture', { 'x-user': 'bob' })).status).toBe(403)
  expect((await ask(folders, '/folders/f2', { 'x-user': 'ann' })).status).toBe(403)
})

test('identity-of-your-own: only users with a session of the host app are authenticated', async () => {
  const path = '/api/media/proxy/assets'
  expect((await ask(identities, path, { cookie: 'session=s3cret' })).status).toBe(200)
  expect((await ask(identities, path, { cookie: 'session=guessed' })).status).toBe(401)
  expect((await ask(identities, path, { authorization: 'Bearer sk-0123456789' })).status).toBe(401)
})

test('identity-of-your-own: a page of another site cannot use the session of its visitor', async () => {
  const post = async (headers: Record<string, string>) => {
    const init = { method: 'POST', headers, body: '{}' }
    return (await identities.handle(new Request('http://localhost/api/media/proxy/assets/groups', init))).status
  }
  const cookie = 'session=s3cret'
  expect(await post({ cookie, origin: 'https://evil.example' })).toBe(403)
  expect(await post({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await post({ cookie })).toBe(403)
  expect(await post({ cookie: 'session=guessed', origin: 'https://evil.example' })).toBe(401)
  // Name is required: the request has passed the check.
  expect(await post({ cookie, origin: 'http://localhost:3000' })).toBe(400)
  expect((await ask(identities, '/api/media/proxy/assets', { cookie, origin: 'https://evil.example' })).status).toBe(
    200,
  )
})

/** A server at the upstream port of an example. It stops at the end of the test. */
const upstreamAt = (port: number, data: readonly string[], type = 'text/event-stream') => {
  const asked: { path: string; authorization: string | null }[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push({ path: new URL(request.url).pathname, authorization: request.headers.get('authorization') })
      return new Response(data.join(''), { headers: { 'content-type': type } })
    },
  })
  return { asked, [Symbol.dispose]: () => void server.stop(true) }
}

test('chat-for-your-users: calls go to the upstream of their model, and usage is counted', async () => {
  const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c', choices: [], ...more })}\n\n`
  const response = [
    chunk({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] }),
    chunk({ usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    'data: [DONE]\n\n',
  ]
  using one = upstreamAt(4001, response)
  using two = upstreamAt(4002, response)
  const post = (path: string, body: object) =>
    chat.handle(
      new Request(`http://localhost/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer ann', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const messages = [{ role: 'user', content: 'hello' }]
  expect(await (await post('/chat/completions', { model: 'small', messages })).json()).toMatchObject({
    choices: [{ message: { content: 'hi' } }],
  })
  expect((await post('/chat/completions', { model: 'strict', messages, temperature: 2 })).status).toBe(400)
  expect(await (await post('/responses', { model: 'other', input: 'hello' })).json()).toMatchObject({
    output: [{ content: [{ text: 'hi' }] }],
  })
  expect(one.asked).toEqual([{ path: '/v1/chat/completions', authorization: 'Bearer key-of-one' }])
  expect(two.asked).toEqual([{ path: '/v1/chat/completions', authorization: 'Bearer key-of-two' }])
  expect(spent.get('ann')).toBe(4)
})

test('relay-any-stream: relays an event stream without the dropped events', async () => {
  using _ = upstreamAt(4003, ['event: internal\ndata: x\n\n', 'id: 1\r\ndata: news\r\n\r\n', ': bye\n'])
  expect(await ask(news, '/news')).toEqual({ status: 200, text: 'id: 1\r\ndata: news\r\n\r\n: bye\n' })
  expect(Object.fromEntries(counted)).toEqual({ internal: 1, message: 1 })
})

test('each example has at most 50 lines, and imports the package by its name', () => {
  const folder = new URL('../../examples/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files).toContain('better-auth/users.ts')
  for (const file of files) {
    const text = readFileSync(new URL(file, folder), 'utf8')
    expect([file, text.split('\n').length <= 50]).toEqual([file, true])
    // An example may have parts, in a folder of its name.
    const name = file.split(/[./]/, 1)[0] ?? ''
    const relative = [...text.matchAll(/from '(\.{1,2}\/[^']*)'/g)].map(([, path = '']) => path)
    const parts = file.includes('/') ? './' : `./${name}/`
    expect([file, relative.filter((path) => !path.startsWith(parts))]).toEqual([file, []])
  }
})
