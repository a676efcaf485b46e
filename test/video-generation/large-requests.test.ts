import { expect, test } from 'bun:test'
import { repeatedDatabases } from '../support/database.ts'
import { MODEL, openVideoFixture, text, until } from './fixture.ts'

const image = Buffer.alloc(1_500_000, 7).toString('base64')
const large = {
  model: MODEL,
  content: [
    text('a cat'),
    { type: 'image_url', role: 'first_frame', image_url: { url: `data:image/png;base64,${image}` } },
  ],
}

test.each(repeatedDatabases)(
  'a large request waits in the store, and reaches the upstream unchanged (%s)',
  async (database) => {
    const sent: string[] = []
    const keepingBody: typeof fetch = Object.assign(
      async (url: Parameters<typeof fetch>[0], init?: RequestInit) => {
        if (init?.method === 'POST') sent.push(new TextDecoder().decode(init.body as Uint8Array<ArrayBuffer>))
        return fetch(url, init)
      },
      { preconnect: fetch.preconnect },
    )
    await using fixture = await openVideoFixture({
      database,
      gateway: { slots: { '*': { running: 1 } }, fetch: keepingBody },
    })
    const { ann, emulator } = fixture
    const first = await ann.created()
    const reply = await ann.send('POST', '', large)
    expect(reply.status).toBe(200)
    expect((await ann.get(reply.json.id)).json).toMatchObject({ status: 'queued' })
    expect(sent).toHaveLength(1)
    for (const { id } of emulator.video.tasks()) emulator.video.finish(id)
    await until(() => sent.length === 2)
    expect(JSON.parse(sent[1] ?? '')).toMatchObject(large)
    await until(async () => (await ann.statusOf(reply.json.id)) === 'running')
    expect(await ann.statusOf(first)).toBe('succeeded')
  },
)

test('a request above the maximum is rejected', async () => {
  await using fixture = await openVideoFixture({ gateway: { maxBodyBytes: 1_000_000 } })
  expect((await fixture.ann.send('POST', '', large)).status).toBe(413)
  expect(fixture.emulator.video.tasks()).toEqual([])
})
