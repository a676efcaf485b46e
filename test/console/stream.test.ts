import { describe, expect, test } from 'bun:test'

/** The page's reader of event streams. It is JavaScript, and the page's own type check covers it. */
const reader: {
  readEvents(body: ReadableStream<Uint8Array>, pause?: () => Promise<void>): AsyncGenerator<string>
  readCompletion(body: ReadableStream<Uint8Array>): AsyncGenerator<{ content: string; reasoning: string }>
} = await import(new URL('../../plugins/console/page/chat/stream.js', import.meta.url).href)

const streamOf = (...chunks: readonly Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })

const bytes = (text: string) => new TextEncoder().encode(text)

const eventsOf = async (body: ReadableStream<Uint8Array>) => Array.fromAsync(reader.readEvents(body))

describe('events', () => {
  const text =
    ': hello\r\n\r\ndata: {"a":"你好 🌊"}\n\nevent: x\r\ndata:one\r\ndata: two\r\n\r\nid: 1\rdata: last\r\rdata: cut'
  const expected = ['{"a":"你好 🌊"}', 'one\ntwo', 'last']

  test('are the same wherever the stream is split into two chunks', async () => {
    const whole = bytes(text)
    for (let at = 0; at <= whole.length; at++) {
      expect([at, await eventsOf(streamOf(whole.subarray(0, at), whole.subarray(at)))]).toEqual([at, expected])
    }
  })

  test('are the same byte by byte', async () => {
    expect(await eventsOf(streamOf(...[...bytes(text)].map((byte) => Uint8Array.of(byte))))).toEqual(expected)
  })
})

test('events are read with a pause between two reads, in which more may arrive', async () => {
  const seen: string[] = []
  const pause = async () => {
    seen.push('a pause')
  }
  const body = streamOf(bytes('data: one\n\ndata: two\n\ndata: th'), bytes('ree\n\n'))
  for await (const data of reader.readEvents(body, pause)) seen.push(data)
  expect(seen).toEqual(['one', 'two', 'a pause', 'three', 'a pause'])
})

describe('a completion', () => {
  const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
  const read = async (text: string) => {
    let content = ''
    let reasoning = ''
    try {
      for await (const delta of reader.readCompletion(streamOf(bytes(text)))) {
        content += delta.content
        reasoning += delta.reasoning
      }
    } catch (error) {
      return { content, reasoning, error: (error as Error).message }
    }
    return { content, reasoning }
  }
  const incomplete = 'The answer is incomplete: the stream failed.'
  const hello = chunk({ reasoning_content: 'Hm. ' }) + chunk({ content: 'Hel' }) + chunk({ content: 'lo' })

  test('is the sum of its deltas up to [DONE]', async () => {
    expect(await read(`${hello}data: [DONE]\n\n${chunk({ content: '!' })}`)).toEqual({
      content: 'Hello',
      reasoning: 'Hm. ',
    })
  })

  test('without [DONE] is an error after its deltas', async () => {
    expect(await read(hello)).toEqual({ content: 'Hello', reasoning: 'Hm. ', error: incomplete })
  })

  test('with an error event is that error', async () => {
    const error = `data: ${JSON.stringify({ error: { message: 'too many tokens' } })}\n\n`
    expect(await read(`${hello}${error}data: [DONE]\n\n`)).toMatchObject({ content: 'Hello', error: 'too many tokens' })
  })

  test('with an event that is not JSON is an error', async () => {
    expect((await read('data: <html>\n\n')).error).toBe(incomplete)
  })
})
