import { expect, test } from 'bun:test'
import { MODEL, text } from '../emulator/video-client.ts'
import { repetitions } from '../support/repetitions.ts'
import { openServerFixture } from '../support/server-fixture.ts'
import { tasksPath } from '../video-generation/fixture.ts'

/** A proxy in front of an upstream of video generation. It holds back the response to the second create call. */
const openProxy = (upstream: string) => {
  const [arrived, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let creates = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'POST' ? await request.text() : undefined
      const response = await fetch(`${upstream}${pathname}${search}`, { method, headers, body })
      if (method === 'POST' && ++creates === 2) {
        arrived.resolve()
        await answer.promise
      }
      return new Response(await response.text(), response)
    },
  })
  return { url: server.url.origin, arrived: arrived.promise, answer: answer.resolve, stop: () => server.stop(true) }
}

for (const GET_BODIES of repetitions('on', 'off')) {
  test(`a create call of the queue that is in flight at SIGTERM is not lost (GET_BODIES=${GET_BODIES})`, async () => {
    await using fixture = await openServerFixture('sqlite', { video: { queuedMs: 0, runningMs: 20 } })
    const { url: upstream, key } = fixture.emulator.video
    const { origin, pathname } = new URL(upstream)
    const proxy = openProxy(origin)
    const gateway = await fixture.start({
      ...{ GET_BODIES, VIDEO_UPSTREAM_URL: `${proxy.url}${pathname}`, VIDEO_UPSTREAM_KEY: key, VIDEO_SLOTS: '{"*":1}' },
    })
    const ann = await fixture.addUser('ann')
    const create = async () => {
      const response = await fetch(`${gateway.url}${tasksPath}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL, content: [text('a cat')] }),
      })
      return ((await response.json()) as { id: string }).id
    }
    await create()
    const waiting = await create()
    await proxy.arrived
    const ended = gateway.kill('SIGTERM')
    // The server has closed its port, and no request is in flight.
    while (await isListening(gateway.url)) await new Promise((resolve) => setTimeout(resolve, 5))
    proxy.answer()
    expect(await ended).toBe(0)
    const task = await fixture.store.videoTask(ann.id, waiting)
    expect(task).toMatchObject({ phase: 'submitted', upstreamId: expect.stringMatching(/^cgt-/) })
    await proxy.stop()
  }, 300_000)
}

const isListening = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )
