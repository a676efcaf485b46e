import { expect, setDefaultTimeout, test } from 'bun:test'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { repeatedRuntimes } from '../support/fronts.ts'
import { openServerFixture } from '../support/server-fixture.ts'

setDefaultTimeout(300_000)

const completion = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
})

test.each(repeatedRuntimes)(
  'an upstream that hangs up is left alone, and used again when it is back (%s)',
  async (runtime) => {
    let asked = 0
    let reply = (response: ServerResponse) => void response.destroy()
    const upstream = createServer((request, response) => {
      asked++
      request.resume()
      reply(response)
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    await using fixture = await openServerFixture()
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
    const server = await fixture.start({ TEXT_UPSTREAM_URL: url, METRICS_TOKEN: 'of-metrics' }, runtime)
    const { token } = await fixture.addUser('ann')
    const chat = async () => {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] }),
      })
      await response.arrayBuffer()
      return response.status
    }
    const metrics = async () => {
      const headers = { authorization: 'Bearer of-metrics' }
      return (await (await fetch(`${server.url}/metrics`, { headers })).text()).split('\n')
    }
    for (let at = 0; at < 5; at++) expect(await chat()).toBe(502)
    const before = asked
    const statuses = await Promise.all(Array.from({ length: 50 }, chat))
    expect(new Set(statuses)).toEqual(new Set([502]))
    // Only the calls that try whether it is back.
    expect(asked - before).toBeLessThan(50)
    const lines = await metrics()
    const refused = Number(lines.find((line) => line.startsWith('sluice_upstream_calls_refused_total'))?.split(' ')[1])
    expect(refused).toBe(50 - (asked - before))
    expect(await (await fetch(`${server.url}/readyz`)).json()).toMatchObject({
      upstreams: { text: 'unreachable' },
    })
    reply = (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(completion)
    while ((await chat()) !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await metrics()).toContain('sluice_upstream_circuits{state="open"} 0')
    upstream.close()
  },
)
