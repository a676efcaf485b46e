import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { repeatedRuntimes } from '../support/fronts.ts'
import type { ServerProcess } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'

const answerTo = (id: string) => {
  const content = { role: 'assistant', content: `answer to ${id}` }
  const body = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: content, finish_reason: 'stop' }],
  })
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/**
 * An upstream that sends an unsolicited second response after every response, at once or after a moment. (After the next call was sent,
 * a client cannot distinguish it from the response to that call.)
 */
const startUpstream = async () => {
  const server = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk
      const head = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (head === -1 || text.length < head + 4 + length) return
      const [id = '', timing = ''] = /\w+ of \w+/.exec(text)?.[0].split(' of ') ?? []
      text = ''
      const response = answerTo(`${id} of ${timing}`)
      socket.write(timing === 'once' ? response + response : response)
      if (timing === 'soon') setImmediate(() => socket.write(response))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() }
}

for (const runtime of repeatedRuntimes) {
  describe(`an unsolicited response of the upstream reaches no other caller, on ${runtime}`, () => {
    let fixture: ServerFixture
    let upstream: Awaited<ReturnType<typeof startUpstream>>
    let server: ServerProcess
    const tokens: string[] = []
    beforeAll(async () => {
      fixture = await openServerFixture()
      upstream = await startUpstream()
      server = await fixture.start({ TEXT_UPSTREAM_URL: upstream.url, TEXT_UPSTREAM_KEY: 'the-upstream-key' }, runtime)
      for (const name of ['ann', 'ben']) tokens.push((await fixture.addUser(name)).token)
    }, 300_000)
    afterAll(async () => {
      await fixture[Symbol.asyncDispose]()
      upstream.close()
    })

    test.each(['once', 'soon'])(
      'sent %s',
      async (timing) => {
        for (let nth = 0; nth < 12; nth++) {
          const content = `call${nth} of ${timing}`
          const asked = await fetch(`${server.url}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${tokens[nth % 2]}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
          })
          expect(await asked.text()).toContain(`answer to ${content}`)
          // The second response has arrived before the next call.
          if (timing === 'soon') await Bun.sleep(20)
        }
      },
      300_000,
    )
  })
}
