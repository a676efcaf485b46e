/** Runs with `--all`: 14 seconds of real silence on both runtimes, with both servers. test/node-server/timeouts.test.ts has short ones. */
import { describe, expect, test } from 'bun:test'
import type { Runtime } from '../support/server.ts'
import { openServerFixture, type ServerFixture } from '../support/server-fixture.ts'
import { chunk } from './fixture.ts'

/** When set, the test uses real durations: silence longer than the runtimes' timeouts, and the default timeout. */
const slow = process.env.SLUICE_SLOW !== undefined
const silenceMs = slow ? 320_000 : 14_000
const limitSeconds = slow ? undefined : '3'

const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

const ask = (url: string, token: string, body: object) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }),
    ...{ timeout: false },
  })

const openServer = async (workplace: ServerFixture, runtime: Runtime, getBodies: 'on' | 'off') => {
  const { emulator } = workplace
  const server = await workplace.start(
    {
      TEXT_UPSTREAM_URL: emulator.text.url,
      TEXT_UPSTREAM_KEY: emulator.text.key,
      TEXT_TIMEOUT_SECONDS: limitSeconds,
      GET_BODIES: getBodies,
    },
    runtime,
  )
  const { token } = await workplace.addUser(`ann-${runtime}-${getBodies}`)
  return { url: server.url, token }
}

describe.each([
  ['bun', 'on'],
  ['bun', 'off'],
  ['deno', 'on'],
  ['deno', 'off'],
] as const)('the default server on %s, GET_BODIES %s', (runtime, getBodies) => {
  test.concurrent(
    `${silenceMs / 1000} s of silence before and during a stream do not end it`,
    async () => {
      await using workplace = await openServerFixture()
      const { url, token } = await openServer(workplace, runtime, getBodies)
      const chunks = [event(chunk({ content: 'late' })), { wait: silenceMs }, event(chunk({}, 'stop')), event('[DONE]')]
      const late = [{ wait: silenceMs }, ...chunks]
      workplace.emulator.text.respondWith(({ body }) => ({ chunks: body.includes('"late"') ? late : chunks }), {
        times: 2,
      })
      const asked = ['late', 'soon'].map((user) => ask(url, token, { stream: true, user }))
      const texts = await Promise.all((await Promise.all(asked)).map((response) => response.text()))
      for (const text of texts) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    },
    3 * silenceMs + 60_000,
  )

  test.concurrent('a non-streaming call ends at the timeout with a partial response', async () => {
    await using workplace = await openServerFixture()
    const { url, token } = await openServer(workplace, runtime, getBodies)
    workplace.emulator.text.respondWith({
      chunks: [event(chunk({ role: 'assistant', content: 'so far' })), { wait: 600_000 }],
    })
    const response = await ask(url, token, {})
    expect(response.status).toBe(200)
    expect(response.headers.get('x-upstream-partialresponse')).toBe('true')
    expect(await response.json()).toMatchObject({
      choices: [{ message: { content: 'so far' }, finish_reason: 'length' }],
    })
    for (let tries = 0; tries < 200 && workplace.emulator.calls.some(({ aborted }) => !aborted); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(workplace.emulator.calls.map(({ aborted }) => aborted)).toEqual([true])
  }, 300_000)
})
