import { expect, setDefaultTimeout, test } from 'bun:test'
import { png } from '../mcp/fixture.ts'
import { browse, openFixture } from '../server/fixture.ts'

setDefaultTimeout(300_000)

const [old, fresh] = ['an old secret of the sessions', 'a new secret of the sessions']

/** What one process has signed: a session, the token of a page, and the link of a file. */
const signedBy = async (server: { readonly url: string }, token: string) => {
  const authorization = { authorization: `Bearer ${token}` }
  const page = await fetch(`${server.url}/api/media/proxy/assets/groups?MaxResults=1`, { headers: authorization })
  const upload = await fetch(`${server.url}/api/uploads`, { method: 'POST', headers: authorization, body: png })
  const { url } = ((await upload.json()) as { upload: { url: string } }).upload
  return {
    ...{ cookie: (await browse(server, 'pia')).cookie, link: new URL(url).pathname + new URL(url).search },
    next: ((await page.json()) as { Result: { NextToken: string } }).Result.NextToken,
  }
}

type Signed = Awaited<ReturnType<typeof signedBy>>

/** Whether a process takes the session, goes on at the place of the page token, and opens the link that another one has signed. */
const accepts = async ({ url }: { readonly url: string }, token: string, { cookie, next, link }: Signed) => {
  const list = `${url}/api/media/proxy/assets/groups?MaxResults=1&NextToken=${encodeURIComponent(next)}`
  const page = await fetch(list, { headers: { authorization: `Bearer ${token}` } })
  const { Result } = (await page.json()) as { Result: { Items: readonly { Name: string }[] } }
  return {
    session: (await fetch(`${url}/api/session`, { headers: { cookie } })).status,
    page: Result.Items.map(({ Name }) => Name),
    link: (await fetch(url + link)).status,
  }
}

const accepted = { session: 200, page: ['a'], link: 200 }

test('a secret that is rotated in three steps, process by process, ends no session, no page and no link', async () => {
  await using fixture = await openFixture('sqlite')
  await fixture.addPerson('pia')
  const ann = await fixture.addUser('ann')
  const start = (secrets: readonly string[]) => fixture.start({ SESSION_SECRET: secrets.join() })
  const first = await start([old])
  const user = ann.at(first)
  for (const Name of ['a', 'b']) expect((await user.ask('POST', '/assets/groups', { Name })).status).toBe(200)

  // In each step one process has the secrets of the step before, and the other those of this one.
  let server = first
  for (const secrets of [[old, fresh], [fresh, old], [fresh]]) {
    const next = await start(secrets)
    expect(await accepts(next, ann.token, await signedBy(server, ann.token))).toEqual(accepted)
    expect(await accepts(server, ann.token, await signedBy(next, ann.token))).toEqual(accepted)
    await server.kill('SIGTERM')
    server = next
  }

  // Without the steps, what the other process has signed is worth nothing: a list begins again.
  const other = await start([old])
  expect(await accepts(other, ann.token, await signedBy(server, ann.token))).toEqual({
    ...{ session: 401, page: ['b'], link: 404 },
  })
})

test('a key of the upstream that no longer works is the upstream’s error, and /readyz says so', async () => {
  await using fixture = await openFixture('sqlite')
  const ann = await fixture.addUser('ann')
  const server = await fixture.start({ MEDIA_UPSTREAM_KEY: 'a-key-that-was-revoked' })
  const reply = await ann.at(server).ask('POST', '/assets/groups', { Name: 'a' })
  expect(reply.status).toBe(401)
  expect(reply.text).not.toContain('a-key-that-was-revoked')
  const ready = await fetch(`${server.url}/readyz`)
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { upstreams: { assets: "rejects the gateway's key" } },
  ])
  // Nothing was created: the name is free.
  const mended = await fixture.start()
  expect((await ann.at(mended).ask('POST', '/assets/groups', { Name: 'a' })).status).toBe(200)
})
