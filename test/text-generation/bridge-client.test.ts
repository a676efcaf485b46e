import { describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { streamText } from 'ai'
import { APIError } from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { bridge, chunk, clientOf, dataOf, eventsIn, newBridge, streams, toolDelta, tools } from './bridge-fixture.ts'

const asked = { model: 'm', input: 'hi', tools }

/** The events that OpenAI's client reads, and its error. */
const readAll = async (text: string) => {
  const events: ResponseStreamEvent[] = []
  try {
    for await (const event of await clientOf(text).responses.create({ ...asked, stream: true })) events.push(event)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

describe('OpenAI’s client', () => {
  for (const { name, chunks, items, status = 'completed', text = '' } of streams) {
    const bridged = bridge(chunks, { tools })

    test(`reads every event: ${name}`, async () => {
      expect(await readAll(bridged)).toEqual({ events: eventsIn(bridged), error: undefined })
    })

    test(`builds the response of the last event: ${name}`, async () => {
      const last = eventsIn(bridged).at(-1)
      const response = await clientOf(bridged).responses.stream(asked).finalResponse()
      expect(response.status).toBe(status)
      expect(response.output_text).toBe(text)
      expect(response.output.map(({ type }) => type)).toEqual(items as never)
      expect(response).toMatchObject(last && 'response' in last ? (last.response as never) : ({ id: 'none' } as never))
    })

    test(`builds the same response without the last event: ${name}`, async () => {
      const events = eventsIn(bridged)
      const last = events.at(-1)
      const rest = bridged.slice(0, bridged.lastIndexOf('event: '))
      const response = await clientOf(rest).responses.stream(asked).finalResponse()
      expect(response.output).toMatchObject(
        last && 'response' in last ? (last.response.output as never) : ([] as never),
      )
    })
  }

  test('raises the error of an interrupted stream after the events before it', async () => {
    const broken = newBridge()
    let text = broken.push(dataOf(chunk({ content: 'half' })))
    text += broken.push(dataOf(toolDelta(0, { name: 'f', arguments: '{' }, 'a')))
    text += broken.fail('upstream broke off its answer')
    const { events, error } = await readAll(text)
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { output: [{ content: [{ text: 'half' }] }, {}] },
    } as never)
    expect(error).toBeInstanceOf(APIError)
    expect((error as APIError).message).toContain('upstream broke off its answer')
    await expect(clientOf(text).responses.stream(asked).finalResponse()).rejects.toThrow(
      'upstream broke off its answer',
    )
  })
})

describe('another client', () => {
  for (const { name, chunks, text = '' } of streams) {
    test(`reads text and calls: ${name}`, async () => {
      const bridged = bridge(chunks, { tools })
      const model = createOpenAI({
        apiKey: 'sk-test',
        fetch: (async () =>
          new Response(`${bridged}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })) as never,
      }).responses('m')
      const errors: unknown[] = []
      const result = streamText({ model, prompt: 'hi', onError: ({ error }) => void errors.push(error) })
      await result.consumeStream()
      expect(errors).toEqual([])
      // This client shows a refusal as text.
      expect(await result.text).toStartWith(text)
      const last = eventsIn(bridged).at(-1)
      const output = last && 'response' in last ? last.response.output : []
      const called = output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
      expect((await result.toolCalls).map(({ toolCallId }) => toolCallId)).toEqual(expect.arrayContaining(called))
    })
  }
})
