import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { hello, model, openFixtureFor, thrown, until, variants } from './fixture.ts'

const silences = [
  { when: 'before the first event', events: 'headers' },
  { when: 'in the middle', events: 2 },
] as const

const streams = {
  chat: (client: OpenAI) => client.chat.completions.create({ model, messages: hello('hi'), stream: true }),
  responses: (client: OpenAI) => client.responses.create({ model, input: 'hi', stream: true }),
} as const

const invalid = { type: 'authentication_error', code: 'invalid_api_key' }

for (const variant of variants.filter(({ name }) => !name.includes('without streams'))) {
  describe(`a revoked token, upstream: ${variant.name}`, () => {
    for (const [protocol, stream] of Object.entries(streams)) {
      for (const { when, events } of silences) {
        test(`ends a ${protocol} stream that is silent ${when}: the client raises an error, and the upstream call is aborted`, async () => {
          await using fixture = await openFixtureFor(variant)
          const { gateway, ann, emulator, openai } = fixture
          const silence = emulator.faults.add({ kind: 'silence', events, ms: 60_000 })
          const running = (async () => {
            let heard = 0
            for await (const _ of await stream(openai)) heard++
            return heard
          })()
          const caught = thrown(running)
          await silence.waitForHits()
          const [token] = await gateway.store.listTokens(ann.id)
          await gateway.store.revokeToken(token?.id ?? '', Date.now())
          const error = await caught
          expect(error).toBeInstanceOf(OpenAI.APIError)
          expect(error).toMatchObject(invalid)
          await until(() => fixture.generatingCalls().every(({ aborted }) => aborted))
          // Its usage is recorded, as for every interrupted call.
          expect((await fixture.recorded()).calls).toBe(1)
        })
      }
    }

    test('ends a non-streaming call', async () => {
      await using fixture = await openFixtureFor(variant)
      const { gateway, ann, emulator, openai } = fixture
      const silence = emulator.faults.add({ kind: 'silence', events: 1, ms: 60_000 })
      const caught = thrown(openai.chat.completions.create({ model, messages: hello('hi') }))
      await silence.waitForHits()
      const [token] = await gateway.store.listTokens(ann.id)
      await gateway.store.revokeToken(token?.id ?? '', Date.now())
      const error = await caught
      expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
      expect(error).toMatchObject({ status: 401, ...invalid })
      await until(() => fixture.generatingCalls().every(({ aborted }) => aborted))
    })
  })
}

test('all streams of a disabled user end, and no streams of other users', async () => {
  await using fixture = await openFixtureFor(variants[0])
  const { gateway, bob, emulator, openai, baseURL } = fixture
  const silence = emulator.faults.add({ kind: 'silence', events: 1, ms: 60_000, times: 3 })
  const others = new OpenAI({ baseURL, apiKey: bob.token, maxRetries: 0 })
  const iterate = async (client: OpenAI) => {
    for await (const _ of await streams.chat(client));
    return 'the whole stream'
  }
  const mine = [iterate(openai), iterate(openai)].map(thrown)
  await silence.waitForHits(2)
  const leaving = new AbortController()
  const foreign = thrown(
    (async () => {
      const { body } = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${others.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: hello('hi'), stream: true }),
        signal: leaving.signal,
      })
      for await (const _ of body ?? []);
      throw new Error('it ended')
    })(),
  )
  await silence.waitForHits(3)
  expect(await gateway.store.disableUser('ann', Date.now())).toBe(true)
  for (const error of await Promise.all(mine)) expect(error).toMatchObject(invalid)
  // One check covers both users, so the other stream would have ended, too.
  await Bun.sleep(500)
  leaving.abort()
  expect(await foreign).toMatchObject({ name: 'AbortError' })
})
