/** Runs with `--all`: kills processes on both runtimes. */
import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import { until } from '../routes/fixture.ts'
import { databaseNames } from '../support/database.ts'
import { openServerFixture } from '../support/server-fixture.ts'

const model = 'doubao-seed-emulated'

const statusOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 200,
    (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
  )

test('usage of a background response is recorded by the next process when the first one has ended', async () => {
  await using fixture = await openServerFixture('sqlite', { text: { queuedMs: 0, backgroundMs: 0 } })
  const { url, key } = fixture.emulator.text
  const account = new OpenAI({ baseURL: url, apiKey: key })
  const { id } = await account.responses.create({ model, input: 'hi', background: true })
  const user = await fixture.addUser('ann')
  const createdAt = Date.now() - 60_000
  const record = { kind: 'response', id, user: user.id, upstream: url, model, createdAt } as const
  await fixture.store.recordTextObjects([{ ...record, expiresAt: createdAt + 1e9, dueAt: createdAt + 30_000 }])
  await fixture.start({ TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key })
  const usage = () => fixture.store.listUsage({ user: user.id })
  await until(async () => (await usage()).length > 0)
  expect(await usage()).toMatchObject([{ model, calls: 1, unreported: 0, outputTokens: expect.any(Number) }])
}, 300_000)

for (const kind of databaseNames) {
  test(`a response belongs to its owner in every process, on Bun and Deno, and its usage counts once (${kind})`, async () => {
    await using fixture = await openServerFixture(kind, { text: { queuedMs: 50, backgroundMs: 150 } })
    const { url, key } = fixture.emulator.text
    const text = { TEXT_UPSTREAM_URL: url, TEXT_UPSTREAM_KEY: key }
    const servers = await Promise.all([fixture.start(text), fixture.start(text, 'deno')])
    const users = await Promise.all(['ann', 'bob'].map((name) => fixture.addUser(name)))
    const [anns, bobs] = users.map(({ token }) =>
      servers.map((server) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: token, maxRetries: 0 })),
    )
    for (const [index, creator] of (anns ?? []).entries()) {
      const others = [anns?.[1 - index], bobs?.[1 - index], bobs?.[index]]
      const streamed = await creator.responses.create({ model, input: '100 tokens', stream: true })
      let streamedId = ''
      for await (const event of streamed) {
        if (event.type === 'response.created') streamedId = event.response.id
        // The caller disconnects as soon as it knows the id.
        break
      }
      const { id } = await creator.responses.create({ model, input: 'hi' })
      const continued = others.map((client) =>
        client ? statusOf(client.responses.create({ model, input: 'go on', previous_response_id: id })) : 0,
      )
      expect(await Promise.all(continued)).toEqual([200, 400, 400])
      for (const each of [id, streamedId]) {
        const fetched = others.map((client) => (client ? statusOf(client.responses.retrieve(each)) : 0))
        expect(await Promise.all(fetched)).toEqual([200, 404, 404])
        const listed = others.map((client) => (client ? statusOf(client.responses.inputItems.list(each)) : 0))
        expect(await Promise.all(listed)).toEqual([200, 404, 404])
      }
      const deleted = others.toReversed().map((client) => (client ? statusOf(client.responses.delete(id)) : 0))
      expect((await Promise.all(deleted)).sort()).toEqual([200, 404, 404])
      expect(await statusOf(creator.responses.retrieve(id))).toBe(404)
    }

    const calls = async () => (await fixture.store.listUsage({ user: users[0]?.id })).map((row) => row.calls).at(0) ?? 0
    const before = 6
    // Usage is written shortly after the response.
    await until(async () => (await calls()) === before)
    const background = await anns?.[0]?.responses.create({ model, input: 'hi', background: true, stream: true })
    let id = ''
    let number = -1
    for await (const event of background ?? []) {
      if (event.type === 'response.created') id = event.response.id
      number = event.sequence_number
      if (event.type === 'response.in_progress') break
    }
    expect(await statusOf(bobs?.[0]?.responses.cancel(id) ?? Promise.resolve())).toBe(404)
    const types: string[] = []
    const rest = await anns?.[1]?.responses.retrieve(id, { stream: true, starting_after: number })
    for await (const event of rest ?? []) types.push(event.type)
    expect(types.at(-1)).toBe('response.completed')
    const last = await Promise.all([...(anns ?? []), ...(anns ?? [])].map((client) => client.responses.retrieve(id)))
    expect(last.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    await until(async () => (await calls()) > before)
    for (const server of servers) await server.kill('SIGTERM')
    expect(await calls()).toBe(before + 1)
  }, 300_000)
}
