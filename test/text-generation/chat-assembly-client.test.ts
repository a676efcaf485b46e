import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createChatAssembly } from '../../plugins/text-generation/chat/assembly.ts'
import type { Recorded } from './chat-assembly-chunks.ts'
import { bytesOf, eventOf, streams } from './chat-assembly-streams.ts'

/** The completion that OpenAI's client accumulates, without the members that it adds. */
const officialAnswer = async (chunks: Recorded['chunks']): Promise<unknown> => {
  const client = new OpenAI({
    apiKey: 'sk-test',
    baseURL: 'http://upstream.invalid/v1',
    maxRetries: 0,
    fetch: async () => new Response(bytesOf(chunks), { headers: { 'content-type': 'text/event-stream' } }),
  })
  const stream = client.chat.completions.stream({ model: 'asked', messages: [{ role: 'user', content: 'Hi' }] })
  const completion = await stream.finalChatCompletion()
  return JSON.parse(JSON.stringify(completion), (key, value) =>
    key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
  )
}

/** Null usage in all chunks means no usage in a non-streaming completion. The client copies the null. */
const withoutNullUsage = (response: unknown): unknown =>
  typeof response === 'object' && response !== null && 'usage' in response && response.usage === null
    ? { ...response, usage: undefined }
    : response

const ownAnswer = (chunks: Recorded['chunks']): unknown => {
  const assembly = createChatAssembly({ model: 'asked', clock: { now: () => 0 } })
  for (const chunk of chunks) assembly.push(eventOf(chunk))
  return JSON.parse(assembly.result())
}

describe('the assembled completion equals that of OpenAI’s client', () => {
  for (const [name, { chunks, official }] of Object.entries(streams)) {
    if (official !== undefined) continue
    test(name, async () => {
      expect(ownAnswer(chunks)).toEqual(withoutNullUsage(await officialAnswer(chunks)))
    })
  }
})

describe('the assembled completion differs where OpenAI’s client is incomplete', () => {
  for (const [name, { chunks, official }] of Object.entries(streams)) {
    if (official === undefined) continue
    test(`${name}: ${official}`, async () => {
      const theirs = await officialAnswer(chunks).catch((error: unknown) => error)
      expect(theirs).not.toEqual(ownAnswer(chunks))
    })
  }

  test('these are all differences', () => {
    const exceptions = Object.values(streams).filter(({ official }) => official !== undefined)
    expect(exceptions.length).toBeLessThan(Object.keys(streams).length / 2)
  })
})
