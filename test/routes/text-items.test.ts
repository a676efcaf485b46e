import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Fixture, openFixture } from './fixture.ts'

const model = 'doubao-seed-emulated'

const clientOf = ({ url }: Fixture, { token }: Fixture['ann']) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })

/** The id of a user's input message, which no response has shown. */
const unseen = ({ emulator }: Fixture): string =>
  emulator.text.objects.list().find(({ kind, id }) => kind === 'item' && id.startsWith('msg_'))?.id ?? ''

const refused = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'answered',
    (error) => [error.status, error.error],
  )

describe('a list of input items', () => {
  test('gives no ownership of an item whose id the caller gave to an input message', async () => {
    await using fixture = await openFixture()
    const [ann, bob] = [clientOf(fixture, fixture.ann), clientOf(fixture, fixture.bob)]
    await ann.responses.create({ model, input: 'my secret is mango' })
    const id = unseen(fixture)
    const labelled = { type: 'message' as const, role: 'user' as const, id, content: 'hm' }
    const own = await bob.responses.create({ model, input: [labelled] })
    expect((await bob.responses.inputItems.list(own.id)).data.map((item) => item.id)).toEqual([id])
    fixture.calls()
    const reference = { model, input: [{ type: 'item_reference' as const, id }] }
    expect(await refused(bob.responses.create(reference))).toMatchObject([404, { param: 'input[0].id' }])
    expect(fixture.calls()).toEqual([])
  })

  test('accepts only items that it has shown as cursors', async () => {
    await using fixture = await openFixture()
    const [ann, bob] = [clientOf(fixture, fixture.ann), clientOf(fixture, fixture.bob)]
    await ann.responses.create({ model, input: 'my secret is mango' })
    const foreign = unseen(fixture)
    const input = Array.from({ length: 25 }, (_, n) => ({ role: 'user' as const, content: `${n}` }))
    const { id } = await bob.responses.create({ model, input })
    const seen: unknown[] = []
    for await (const item of bob.responses.inputItems.list(id, { order: 'asc', limit: 10 })) seen.push(item)
    expect(seen).toMatchObject(input)
    fixture.calls()
    for (const name of ['after', 'before']) {
      for (const item of [foreign, 'msg_nobody', 'a b', '']) {
        const query = `${name}=${encodeURIComponent(item)}`
        const response = await fetch(`${fixture.url}/v1/responses/${id}/input_items?limit=1&${query}`, {
          headers: { authorization: `Bearer ${fixture.bob.token}` },
        })
        expect([response.status, await response.json()]).toEqual([
          404,
          {
            error: {
              message: `Item with id '${item}' not found.`,
              type: 'invalid_request_error',
              param: name,
              code: null,
            },
          },
        ])
      }
    }
    expect(fixture.calls()).toEqual([])
  })

  test('of one response accepts no cursor of another response', async () => {
    await using fixture = await openFixture()
    const bob = clientOf(fixture, fixture.bob)
    const [one, other] = [
      await bob.responses.create({ model, input: 'a' }),
      await bob.responses.create({ model, input: 'b' }),
    ]
    const [item] = (await bob.responses.inputItems.list(one.id)).data
    fixture.calls()
    const attempt = bob.responses.inputItems.list(other.id, { after: item?.id ?? '' })
    expect(await refused(Promise.resolve(attempt))).toMatchObject([404, { param: 'after' }])
    expect(fixture.calls()).toEqual([])
  })
})
