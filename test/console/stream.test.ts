import { describe, expect, test } from 'bun:test'

/** The page's own reader of event streams: plain JavaScript, checked by the page's own types. */
const reader: {
  readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string>
  readCompletion(body: ReadableStream<Uint8Array>): AsyncGenerator<{ content: string; reasoning: string }>
} = await import(new URL('../../plugins/console/page/stream.js', import.meta.url).href)

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

  test('are the same wherever the stream is cut in two', async () => {
    const whole = bytes(text)
    for (let at = 0; at <= whole.length; at++) {
      expect([at, await eventsOf(streamOf(whole.subarray(0, at), whole.subarray(at)))]).toEqual([at, expected])
    }
  })

  test('are the same byte by byte', async () => {
    expect(await eventsOf(streamOf(...[...bytes(text)].map((byte) => Uint8Array.of(byte))))).toEqual(expected)
  })
})

describe('a completion', () => {
  const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
  const said = async (text: string) => {
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
  const hello = chunk({ reasoning_content: 'Hm. ' }) + chunk({ content: 'Hel' }) + chunk({ content: 'lo' })

  test('is what its pieces say, up to its end', async () => {
    expect(await said(`${hello}data: [DONE]\n\n${chunk({ content: '!' })}`)).toEqual({
      content: 'Hello',
      reasoning: 'Hm. ',
    })
  })

  test('that breaks off is an error, whatever it said before', async () => {
    expect(await said(hello)).toEqual({ content: 'Hello', reasoning: 'Hm. ', error: 'The answer broke off.' })
  })

  test('with an error event is that error', async () => {
    const error = `data: ${JSON.stringify({ error: { message: 'too many tokens' } })}\n\n`
    expect(await said(`${hello}${error}data: [DONE]\n\n`)).toMatchObject({ content: 'Hello', error: 'too many tokens' })
  })

  test('that is no JSON is an error in plain words', async () => {
    expect((await said('data: <html>\n\n')).error).toBe('The answer broke off.')
  })
})
