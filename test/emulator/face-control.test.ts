import { afterEach, expect, test } from 'bun:test'
import type { Emulator, Fault } from '../../src/emulator/index.ts'
import { ark } from './client.ts'
import { begin, CALLBACK, face, open, press, result, start, stopAll } from './face-client.ts'

afterEach(stopAll)

async function control({ origin }: Emulator, path: string, body?: string) {
  const response = await fetch(`${origin}/_emulator/${path}`, body === undefined ? {} : { method: 'POST', body })
  return { status: response.status, json: JSON.parse(await response.text()) }
}

test('sessions are listed with their current state, oldest first', async () => {
  const emulator = await start()
  const [first, second, third] = [await begin(emulator), await begin(emulator, `${CALLBACK}/2`), await begin(emulator)]
  emulator.face.finish(second.token, 'succeed')
  emulator.face.finish(third.token, 'close')
  const [group] = emulator.library.groups()
  const sessions = emulator.face.sessions()
  expect(sessions).toMatchObject([
    { bytedToken: first.token, callbackUrl: CALLBACK, state: 'waiting', project: 'default' },
    { bytedToken: second.token, callbackUrl: `${CALLBACK}/2`, state: 'succeeded', groupId: group?.id },
    { bytedToken: third.token, state: 'closed' },
  ])
  expect(sessions[0]).not.toHaveProperty('groupId')
  expect(emulator.origin + sessions[0]?.h5).toBe(first.link)
  expect((sessions[0]?.expireTime ?? 0) - (sessions[0]?.createTime ?? 0)).toBe(1_800_000)
  expect((await control(emulator, 'face')).json).toEqual(sessions)
})

test('the user’s decision can be set over HTTP', async () => {
  const emulator = await start()
  const [a, b] = [await begin(emulator), await begin(emulator)]
  const { status, json } = await control(emulator, `face/${a.token}`, '{"do":"succeed"}')
  expect(status).toBe(200)
  expect(json.callback).toStartWith(`${CALLBACK}?bytedToken=${a.token}&resultCode=10000&`)
  expect((await result(emulator, a.token)).Result.GroupId).toStartWith('group-')
  expect(await control(emulator, `face/${a.token}`, '{"do":"fail"}')).toEqual({ status: 409, json: { error: 'used' } })
  expect(await control(emulator, `face/${b.token}`, '{"do":"close"}')).toEqual({ status: 200, json: {} })
  expect(await control(emulator, 'face/other', '{"do":"fail"}')).toEqual({ status: 404, json: { error: 'unknown' } })
  const late = await begin(emulator)
  for (const body of ['', '{', '[]', '{"do":"win"}', '{"do":7}', '{}']) {
    const { status, json } = await control(emulator, `face/${late.token}`, body)
    expect([body, status, typeof json.error]).toEqual([body, 400, 'string'])
  }
  emulator.library.advance(1_800_000)
  expect((await control(emulator, `face/${late.token}`, '{"do":"fail"}')).json).toEqual({ error: 'expired' })
})

test('both APIs are recorded under the same actions, and browser requests are not recorded', async () => {
  const emulator = await start()
  const { token, link } = await begin(emulator)
  await open(link)
  await press(link, 'succeed')
  await result(emulator, token)
  const { json } = await face(emulator, 'POST', '', '{"a":1}')
  await face(emulator, 'GET', `/${json.verification_id}`)
  await control(emulator, 'face')
  expect(emulator.calls.map(({ api, action, status }) => [api, action, status])).toEqual([
    ['ark', 'CreateVisualValidateSession', 200],
    ['ark', 'GetVisualValidateResult', 200],
    ['rest', 'CreateVisualValidateSession', 200],
    ['rest', 'GetVisualValidateResult', 200],
  ])
  expect(emulator.calls[2]).toMatchObject({ path: '/api/media/face-verifications', json: { a: 1 } })
})

/** Creates a session or task in one of the two APIs. */
const creations = {
  ark: (emulator: Emulator) => ark(emulator, 'CreateVisualValidateSession', { CallbackURL: CALLBACK }),
  rest: (emulator: Emulator) => face(emulator, 'POST'),
}

for (const [api, create] of Object.entries(creations)) {
  test(`faults apply to the two actions of ${api} as to all others`, async () => {
    const emulator = await start()
    const outcome = async (fault: Fault) => {
      emulator.faults.add({ ...fault, action: 'CreateVisualValidateSession' })
      const before = emulator.face.sessions().length
      // after a connection reset, the runtime's fetch may send the request again
      const { status, text } = await create(emulator).catch(() => ({ status: 0, text: '' }))
      return { status, text, made: emulator.face.sessions().length - before }
    }
    expect(await outcome({ kind: 'status', status: 503, body: 'busy' })).toEqual({ status: 503, text: 'busy', made: 0 })
    expect(await outcome({ kind: 'status', status: 500, work: true })).toMatchObject({ status: 500, made: 1 })
    expect(await outcome({ kind: 'not-json' })).toMatchObject({ text: expect.stringContaining('<html>'), made: 1 })
    expect(await outcome({ kind: 'empty' })).toEqual({ status: 200, text: '', made: 1 })
    expect((await outcome({ kind: 'delay', ms: 1 })).made).toBe(1)
    expect(await outcome({ kind: 'reset-after', times: 2 })).toMatchObject({ status: 0 })
    emulator.faults.clear()
    expect(await outcome({ kind: 'truncate', keep: 3 })).toMatchObject({ made: 1 })

    const hold = emulator.faults.add({ kind: 'hold', when: 'after', action: /Visual/ })
    const count = emulator.face.sessions().length
    const pending = create(emulator)
    await hold.waitForHits()
    expect(emulator.face.sessions()).toHaveLength(count + 1)
    hold.release()
    expect((await pending).status).toBe(200)

    const hang = emulator.faults.add({ kind: 'hang', action: 'CreateVisualValidateSession' })
    const silent = create(emulator).catch(() => 'gone')
    await hang.waitForHits()
    await stopAll()
    expect(await silent).toBe('gone')
    expect(emulator.face.sessions()).toHaveLength(count + 1)
  })
}

test('a fault never applies to browser requests', async () => {
  const emulator = await start()
  const { link } = await begin(emulator)
  const fault = emulator.faults.add({ kind: 'status', status: 500 })
  expect((await open(link)).status).toBe(200)
  expect((await press(link, 'succeed')).status).toBe(303)
  expect(fault.hits).toBe(0)
})
