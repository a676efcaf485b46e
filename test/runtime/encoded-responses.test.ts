import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, createDeflate, createGzip } from 'node:zlib'
import { repeatedRuntimes } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const chunkOf = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta: { content }, finish_reason }],
  })}\n\n`
const flush = constants.Z_SYNC_FLUSH

describe.each(repeatedRuntimes)(
  'an upstream that encodes its responses although nobody asks for it (%s)',
  (runtime) => {
    let fixture: ServerFixture
    let server: ServerProcess
    let upstream: Server
    let token: string
    /** Lets the stream go on. */
    let release = Promise.withResolvers<void>()

    beforeAll(async () => {
      upstream = createServer(async (request, response) => {
        let text = ''
        for await (const chunk of request) text += chunk
        const { model } = JSON.parse(text)
        const coding = model === 'deflate' ? createDeflate({ flush }) : createGzip({ flush })
        const isError = model === 'error'
        response.writeHead(isError ? 400 : 200, {
          'content-type': isError ? 'application/json' : 'text/event-stream',
          'content-encoding': model === 'deflate' ? 'deflate' : 'gzip',
        })
        coding.pipe(response)
        if (isError) return void coding.end('{"error":{"message":"no such model"}}')
        coding.write(chunkOf('Hello'))
        await release.promise
        if (model === 'broken') return void response.destroy()
        coding.end(`${chunkOf('', 'stop')}data: [DONE]\n\n`)
      })
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
      fixture = await openServerFixture()
      const { port } = upstream.address() as AddressInfo
      server = await fixture.start(
        { TEXT_UPSTREAM_URL: `http://127.0.0.1:${port}/v1`, TEXT_UPSTREAM_KEY: 'k' },
        runtime,
      )
      token = (await fixture.addUser('ann')).token
    }, 300_000)
    afterAll(async () => {
      await fixture[Symbol.asyncDispose]()
      upstream.closeAllConnections()
      upstream.close()
    })

    const ask = (model: string, stream = false) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
      })

    test('is read like any other', async () => {
      release.resolve()
      for (const model of ['gzip', 'deflate']) {
        const { choices } = JSON.parse(await (await ask(model)).text())
        expect(choices[0].message.content).toBe('Hello')
      }
      const refused = await ask('error')
      expect([refused.status, await refused.text()]).toEqual([400, '{"error":{"message":"no such model"}}'])
      expect(refused.headers.get('content-encoding')).toBeNull()
    })

    test('each event of a stream passes when it arrives, and a stream that breaks is an error', async () => {
      for (const [model, last] of [
        ['gzip', /\[DONE\]\n\n$/],
        ['broken', /"error"/],
      ] as const) {
        release = Promise.withResolvers()
        const { body } = await ask(model, true)
        const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
        expect((await reader?.read())?.value).toContain('Hello')
        release.resolve()
        let rest = ''
        for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) rest += read.value
        expect(rest).toMatch(last)
      }
    })
  },
)
