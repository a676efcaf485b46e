import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MODEL, text } from '../emulator/video-client.ts'
import { readStream } from '../events/fixture.ts'
import { repeatedDatabases } from '../support/database.ts'
import { openFixture, send } from './fixture.ts'

const tasks = '/api/v3/contents/generations/tasks'

for (const kind of repeatedDatabases) {
  test(`each status of a video task is an event, and reaches its callback_url in order (${kind})`, async () => {
    await using fixture = await openFixture(kind)
    const { video } = fixture.emulator
    const bodies: { id: string; status: string; content?: unknown }[] = []
    const receiver = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      bodies.push(JSON.parse(Buffer.concat(parts).toString()))
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/task`
    const [ann, bob] = [await fixture.addUser('ann'), await fixture.addUser('bob')]
    const server = await fixture.start({
      ...{ VIDEO_UPSTREAM_URL: video.url, VIDEO_UPSTREAM_KEY: video.key, WEBHOOK_NETWORKS: '127.0.0.0/8' },
    })
    const listen = async ({ token }: { readonly token: string }) => {
      const headers = { authorization: `Bearer ${token}` }
      const stream = readStream(await fetch(`${server.url}/api/events?types=video.*`, { headers }))
      await stream.next()
      return stream
    }
    const [ofAnn, ofBob] = [await listen(ann), await listen(bob)]
    const create = (user: { readonly token: string }, more: object) =>
      send(
        server.url,
        'POST',
        tasks,
        { model: MODEL, content: [text('a fox')], ...more },
        { authorization: `Bearer ${user.token}` },
      )

    const rejected = await create(ann, { callback_url: 'http://169.254.169.254/' })
    expect([rejected.status, rejected.json.error]).toMatchObject([
      400,
      { message: 'callback_url must be on the public internet', param: 'callback_url' },
    ])
    const { id } = (await create(ann, { callback_url })).json
    expect(await ofAnn.types(1)).toEqual(['video.queued'])
    let ended: Awaited<ReturnType<typeof ofAnn.next>>
    const upstreamId = video.tasks()[0]?.id ?? ''
    video.finish(upstreamId)
    do ended = await ofAnn.next()
    while (ended?.type === 'video.running' || (ended && ended.type === undefined))
    expect(ended).toMatchObject({ type: 'video.succeeded', data: { data: { id, status: 'succeeded' } } })
    while (bodies.at(-1)?.status !== 'succeeded') await new Promise((resolve) => setTimeout(resolve, 20))
    const read = await send(server.url, 'GET', `${tasks}/${id}`, undefined, { authorization: `Bearer ${ann.token}` })
    expect(bodies.at(-1)).toEqual(read.json)
    const order = ['queued', 'running', 'succeeded']
    const statuses = bodies.map(({ status }) => status)
    expect(statuses).toEqual(order.filter((status) => statuses.includes(status)))
    expect(new Set(bodies.map((body) => body.id))).toEqual(new Set([id]))
    expect(JSON.stringify(bodies)).not.toContain(upstreamId)

    const other = (await create(bob, { callback_url })).json.id
    expect(await ofBob.next()).toMatchObject({ type: 'video.queued', data: { data: { id: other } } })
    const code = 'OutputAudioSensitiveContentDetected'
    video.finish(video.tasks().find(({ id }) => id !== upstreamId)?.id ?? '', { status: 'failed', code, message: 'no' })
    do ended = await ofBob.next()
    while (ended?.type === 'video.running' || (ended && ended.type === undefined))
    // The event says what to do. The callback has the vendor's form.
    expect(ended).toMatchObject({
      type: 'video.failed',
      data: { data: { id: other, error: { code, message: 'no', advice: { change: 'without_audio' } } } },
    })
    while (bodies.at(-1)?.status !== 'failed') await new Promise((resolve) => setTimeout(resolve, 20))
    expect(bodies.at(-1)).toMatchObject({ id: other, error: { code, message: 'no' } })
    expect(JSON.stringify(bodies)).not.toContain('advice')
    receiver.close()
  }, 300_000)
}
