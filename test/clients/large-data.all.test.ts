/** Runs with `--all`: answers and requests of many megabytes. */
import { describe, expect, test } from 'bun:test'
import type { ScriptChunk } from '../../src/emulator/index.ts'
import { all, hello, model, openFixture, openFixtureFor, thrown, until } from './fixture.ts'
import { chatOnly, chunk, end, event, native, open, request } from './raw-http.ts'

describe('large amounts of data', () => {
  test('60 MB of images pass, and 70 MB are rejected', async () => {
    await using fixture = await openFixture()
    const look = (bytes: number) => ({
      model,
      messages: [
        {
          role: 'user' as const,
          content: [{ type: 'image_url' as const, image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } }],
        },
      ],
    })
    const { usage } = await fixture.openai.chat.completions.create(look(60_000_000))
    expect(fixture.generatingCalls()[0]?.body.length).toBeGreaterThan(60_000_000)
    expect(await fixture.recorded()).toMatchObject({ input: usage?.prompt_tokens })
    const caught = await thrown(fixture.openai.chat.completions.create(look(70_000_000)))
    expect(caught).toMatchObject({ status: 413, type: 'invalid_request_error', param: null })
    expect(fixture.generatingCalls()).toHaveLength(1)
    fixture.emulator.clearCalls()
  }, 300_000)

  test('a body that is too large keeps its connection usable, with and without Content-Length', async () => {
    await using fixture = await openFixture({ text: { maxBodyBytes: 1000 } })
    const { socket, closed } = open(fixture)
    const large = JSON.stringify({ model, messages: hello('x'.repeat(300_000)) })
    const small = JSON.stringify({ model, messages: hello('x') })
    const chunked = request(fixture, '', 'Transfer-Encoding: chunked\r\n').replace('Content-Length: 0\r\n', '')
    socket.write(request(fixture, large))
    socket.write(`${chunked}${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`)
    socket.write(request(fixture, small, 'Connection: close\r\n'))
    expect((await closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  const five: readonly ScriptChunk[] = [
    ...Array.from({ length: 5_000 }, () => chunk({ content: 'é'.repeat(500) })),
    ...end,
  ]

  test('a response of 5 MB arrives complete with each upstream variant', async () => {
    const whole = 'é'.repeat(2_500_000)
    for (const variant of [native, chatOnly]) {
      await using fixture = await openFixtureFor(variant)
      const { emulator, openai } = fixture
      emulator.text.respondWith({ chunks: five }, { times: 3 })
      if (variant === native) {
        const response = await openai.chat.completions.create({ model, messages: hello('x') })
        expect(response.choices[0]?.message.content === whole).toBe(true)
        const stream = await all(await openai.chat.completions.create({ model, messages: hello('x'), stream: true }))
        expect(stream.map(({ choices }) => choices[0]?.delta.content ?? '').join('') === whole).toBe(true)
      } else {
        expect((await openai.responses.create({ model, input: 'x' })).output_text === whole).toBe(true)
        const events = await all(await openai.responses.create({ model, input: 'x', stream: true }))
        const last = events.at(-1)
        expect(last?.type === 'response.completed' && last.response.output_text === undefined).toBe(true)
        const text = events.flatMap((one) => (one.type === 'response.output_text.delta' ? [one.delta] : [])).join('')
        expect(text === whole).toBe(true)
      }
    }
  }, 300_000)

  test('a response above the assembly limit is an error, but passes as a stream', async () => {
    await using fixture = await openFixture({ text: { maxResponseBytes: 100_000 } })
    fixture.emulator.text.respondWith({ chunks: five }, { times: 2 })
    const caught = await thrown(fixture.openai.chat.completions.create({ model, messages: hello('x') }))
    expect(caught).toMatchObject({ status: 502, type: 'server_error' })
    const stream = await all(
      await fixture.openai.chat.completions.create({ model, messages: hello('x'), stream: true }),
    )
    expect(stream).toHaveLength(5_001)
  })

  test('an endless line is rejected', async () => {
    for (const variant of [native, chatOnly]) {
      await using fixture = await openFixtureFor(variant)
      function* endless() {
        yield 'data: '
        for (;;) yield 'x'.repeat(100_000)
      }
      const { emulator, openai } = fixture
      for (const ask of [
        async () => all(await openai.chat.completions.create({ model, messages: hello('x'), stream: true })),
        async () => all(await openai.responses.create({ model, input: 'x', stream: true })),
        () => openai.responses.create({ model, input: 'x' }) as Promise<unknown>,
      ]) {
        const before = fixture.generatingCalls().length
        emulator.text.respondWith({ chunks: endless() })
        expect(await thrown(ask)).toMatchObject({ status: 502 })
        await until(() => fixture.generatingCalls()[before]?.aborted === true)
      }
    }
  })

  test('a slow reader causes backpressure, not buffering in the gateway', async () => {
    for (const [variant, path] of [
      [native, '/v1/chat/completions'],
      [native, '/v1/responses'],
      [chatOnly, '/v1/responses'],
    ] as const) {
      await using fixture = await openFixtureFor(variant)
      let made = 0
      function* endless() {
        const text =
          variant === native && path === '/v1/responses'
            ? event({ type: 'response.output_text.delta', delta: 'x'.repeat(10_000) })
            : chunk({ content: 'x'.repeat(10_000) })
        for (;;) {
          made += text.length
          yield text
        }
      }
      fixture.emulator.text.respondWith({ chunks: endless() })
      const generatingCalls = path === '/v1/responses' ? { input: 'x' } : { messages: hello('x') }
      const body = JSON.stringify({ model, ...generatingCalls, stream: true })
      const { socket, received } = open(fixture)
      socket.pause()
      socket.write(request(fixture, body, '', `POST ${path} HTTP/1.1`))
      await until(() => made > 1_000_000)
      // Socket buffers hold a few MB per connection. The gateway would have to buffer more than that.
      let before = -1
      while (before !== made) {
        before = made
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
      expect(made).toBeLessThan(40_000_000)
      // After a small read the upstream sends a little more.
      socket.resume()
      await until(() => received().length > 100_000)
      socket.pause()
      socket.destroy()
      await until(() => fixture.generatingCalls()[0]?.aborted === true)
      await until(async () => (await fixture.recorded()).unreported === 1)
    }
  }, 300_000)

  test('a hundred concurrent streams of both protocols are complete', async () => {
    await using fixture = await openFixture({ limiting: { user: { maxStreams: 100 } } })
    const { direct, emulator, openai } = fixture
    const own = await direct.chat.completions.create({ model, messages: hello('90 tokens') })
    // All streams have started before one continues.
    const gate = emulator.faults.add({ kind: 'silence', events: 5, times: 100 })
    const asking = Array.from({ length: 100 }, async (_, index) => {
      if (index % 2) return (await openai.responses.stream({ model, input: '90 tokens' }).finalResponse()).output_text
      const stream = await openai.chat.completions.create({ model, messages: hello('90 tokens'), stream: true })
      return (await all(stream)).map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    })
    await gate.waitForHits(100)
    gate.release()
    expect(new Set(await Promise.all(asking))).toEqual(new Set([own.choices[0]?.message.content ?? '']))
    expect(await fixture.recorded()).toMatchObject({ calls: 100, unreported: 0, output: 9_000 })
  }, 300_000)
})
