/** Runs with `--all`: kills processes on both runtimes. */
import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { databaseNames } from '../support/database.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const model = 'doubao-seed-emulated'

const environmentOf = ({ emulator }: ServerFixture) => ({
  TEXT_UPSTREAM_URL: emulator.text.chatOnlyUrl,
  TEXT_UPSTREAM_KEY: emulator.text.key,
})

const clientOf = ({ url }: ServerProcess, { token }: { readonly token: string }) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })

const statusOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 200,
    (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
  )

/** The texts of the user in the latest chat completion that the upstream was asked for. */
const sentTexts = ({ emulator }: ServerFixture): readonly string[] => {
  const call = emulator.calls.findLast(({ path }) => path.endsWith('/chat/completions'))
  const { messages } = JSON.parse(call?.body ?? '{}') as { messages: { role: string; content: string }[] }
  return messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))
}

for (const kind of databaseNames) {
  test(`a conversation that the gateway keeps goes on in every process, on Bun and Deno, for its user (${kind})`, async () => {
    await using fixture = await openServerFixture(kind)
    const environment = environmentOf(fixture)
    const servers = await Promise.all([fixture.start(environment), fixture.start(environment, 'deno')])
    const [ann, bob] = [await fixture.addUser('ann'), await fixture.addUser('bob')]
    const [anns, bobs] = [ann, bob].map((user) => servers.map((server) => clientOf(server, user).responses))
    const ids: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      const asked = { model, input: `turn ${turn}`, previous_response_id: ids.at(-1) ?? null }
      const client = anns?.[turn % 2]
      const made =
        turn % 3 === 0 ? await client?.stream(asked).finalResponse() : await client?.create({ ...asked, stream: false })
      expect(sentTexts(fixture)).toEqual(Array.from({ length: turn + 1 }, (_, each) => `turn ${each}`))
      ids.push(made?.id ?? '')
    }
    const last = ids.at(-1) ?? ''
    for (const client of anns ?? []) {
      expect((await client.retrieve(last)).previous_response_id).toBe(ids.at(-2) ?? '')
      expect((await client.inputItems.list(last, { limit: 100 })).data).toHaveLength(11)
    }
    for (const client of bobs ?? []) {
      expect(await statusOf(client.retrieve(last))).toBe(404)
      expect(await statusOf(client.delete(last))).toBe(404)
      expect(await statusOf(client.create({ model, input: 'x', previous_response_id: last }))).toBe(400)
    }
    // Two processes continue one response at the same time.
    const both = await Promise.all(
      (anns ?? []).map((client, at) => client.create({ model, input: `way ${at}`, previous_response_id: last })),
    )
    for (const [at, { id }] of both.entries()) {
      await anns?.[1 - at]?.create({ model, input: 'on', previous_response_id: id })
      expect(sentTexts(fixture).slice(-2)).toEqual([`way ${at}`, 'on'])
    }
    await anns?.[0]?.delete(last)
    expect(await statusOf(anns?.[1]?.retrieve(last) ?? Promise.resolve())).toBe(404)
  }, 300_000)

  test(`a process that is killed loses no response whose end a caller has received (${kind})`, async () => {
    await using fixture = await openServerFixture(kind)
    const ann = await fixture.addUser('ann')
    const received: string[] = []
    const begun: string[] = []
    for (let round = 0; round < 3; round++) {
      const server = await fixture.start(environmentOf(fixture))
      const { responses } = clientOf(server, ann)
      let alive = true
      const callers = [0, 1, 2, 3].map(async (caller) => {
        let previous: string | undefined
        for (let turn = 0; alive; turn++) {
          const input = `${caller} ${turn}`
          const stream: AsyncIterable<ResponseStreamEvent> | undefined = await responses
            .create({ model, input, previous_response_id: previous ?? null, stream: true })
            .catch(() => undefined)
          if (!stream) return
          try {
            for await (const event of stream) {
              if (event.type === 'response.created') begun.push(event.response.id)
              if (event.type !== 'response.completed') continue
              received.push(event.response.id)
              previous = event.response.id
            }
          } catch {
            return
          }
        }
      })
      // On a busy machine a kill could come before the first response.
      while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200))
      alive = false
      await server.kill('SIGKILL')
      await Promise.all(callers)
    }
    const { responses } = clientOf(await fixture.start(environmentOf(fixture)), ann)
    for (const id of received) expect([id, (await responses.retrieve(id)).status]).toEqual([id, 'completed'])
    expect(await statusOf(responses.create({ model, input: 'x', previous_response_id: received.at(-1) }))).toBe(200)
    for (const id of begun.filter((each) => !received.includes(each))) {
      const found = await responses.retrieve(id).catch((error: unknown) => error)
      const whole = found instanceof OpenAI.NotFoundError || (found as { status: unknown }).status === 'completed'
      expect([id, whole]).toEqual([id, true])
    }
  }, 300_000)
}
