import { expect, test } from 'bun:test'
import { repeatOnDatabases } from '../support/database.ts'
import { until } from '../support/until.ts'
import { counter } from './fixture.ts'
import {
  callNumber,
  chatOf,
  completeStream,
  inputOf,
  openStream,
  type TextCall,
  type TextProcess,
  twoAssets,
} from './text-fixture.ts'
import { jsonOf, textLibrary } from './text-library.ts'

const timeoutMs = 60_000

repeatOnDatabases('text requests with a library that is larger than its slots', ({ kind }) => {
  const library = textLibrary(kind)
  const { open, ownIdsIn } = library

  test(
    'name the assets of the upstream, in media fields alone, and bring them back into slots',
    async () => {
      await using process = await open(2)
      const group = await process.group('ann', 'many')
      const ids = await process.added('ann', group, 5)
      const [first = '', second = ''] = ids
      expect(library.emulator.library.assets(group)).toHaveLength(2)
      const creates = counter(library.emulator, 'CreateAsset')
      const bodies = {
        '/chat/completions': chatOf([first, second]),
        '/responses': {
          ...{ model: 'm', stream: true, store: false },
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: `asset://${first}` },
                { type: 'input_image', image_url: `asset://${first}` },
                { type: 'input_image', image_url: `asset://${second}` },
              ],
            },
          ],
        },
        '/messages': {
          ...{ model: 'm', stream: true, max_tokens: 9 },
          messages: [
            {
              role: 'user',
              content: [first, second].map((id) => ({ type: 'image', source: { type: 'url', url: `asset://${id}` } })),
            },
          ],
        },
      }
      let number = 0
      for (const [path, body] of Object.entries(bodies)) {
        const answering = process.send('ann', path, body)
        const call = await callNumber(process, ++number)
        const text = path === '/responses' ? [first] : []
        expect(call.assets.slice(0, text.length)).toEqual(text)
        expect(ownIdsIn({ ...call, assets: call.assets.slice(text.length) })).toEqual([first, second])
        call.answer(new Response('{"error":{"message":"no"}}', { status: 400 }))
        expect((await answering).status).toBe(400)
        await until(() => process.uses.size === 0)
        // The slots go to others.
        for (const id of ids.slice(3)) await process.placed([id], 'task')
      }
      expect(creates()).toBe(3 * 4)
      expect(await process.list('ann')).toHaveLength(5)
    },
    timeoutMs,
  )

  test(
    'continue a stored response with the asset that it was about, wherever that is by then',
    async () => {
      await using process = await open(1, { bridged: true })
      const [first, second] = await twoAssets(process, 'stored')
      const ask = (body: object) => process.send('ann', '/responses', { model: 'm', ...body })
      const answering = ask({ input: inputOf(first) })
      const call = await callNumber(process, 1)
      expect(ownIdsIn(call)).toEqual([first])
      call.answer(completeStream())
      const { id } = await jsonOf(await answering)
      const items = await process.get('ann', `/responses/${id}/input_items`)
      expect((await jsonOf(items)).data[0].content).toEqual([
        expect.objectContaining({ image_url: `asset://${first}` }),
      ])
      await process.placed([second], 'task')
      const continuing = ask({ input: 'and now?', previous_response_id: id })
      const next = await callNumber(process, 2)
      expect(ownIdsIn(next)).toEqual([first])
      expect(next.assets).not.toEqual(call.assets)
      next.answer(completeStream())
      expect((await continuing).status).toBe(200)
    },
    timeoutMs,
  )

  test(
    'have no id of the upstream in its errors',
    async () => {
      await using process = await open(2)
      const [id = ''] = await process.added('ann', await process.group('ann', 'errors'), 1)
      const answering = process.chat('ann', [id])
      const call = await callNumber(process, 1)
      const error = { message: `the asset ${call.assets[0]} cannot be read`, code: 'InvalidParameter' }
      call.answer(Response.json({ error }, { status: 400 }))
      const response = await answering
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: { ...error, message: `the asset ${id} cannot be read` } },
      ])
    },
    timeoutMs,
  )

  test(
    'name own assets alone',
    async () => {
      await using process = await open(2)
      const [id = ''] = await process.added('ann', await process.group('ann', 'own'), 1)
      const [hidden = ''] = library.emulator.library.assets().map((asset) => asset.id)
      const answers = await Promise.all(
        [
          ['bob', id],
          ['ann', hidden],
          ['bob', hidden],
          ['ann', 'asset-20200101000000-aaaaa'],
        ].map(async ([user = '', asset = '']) => {
          const response = await process.chat(user, [asset])
          return [response.status, (await jsonOf(response)).error.code]
        }),
      )
      expect(answers).toEqual(answers.map(() => [403, 'asset_not_found']))
      expect(process.calls).toEqual([])
    },
    timeoutMs,
  )

  /** The ends of a request whose call the upstream has. Each makes its assets free. */
  const ends: Readonly<
    Record<
      string,
      (
        call: TextCall,
        request: { response: Promise<Response>; leave: () => void; revoke: () => void; process: TextProcess },
      ) => Promise<void>
    >
  > = {
    'a complete stream': async (call, { response }) => {
      const stream = openStream()
      call.answer(stream.response)
      const text = (await response).text()
      stream.end()
      expect(await text).toContain('[DONE]')
    },
    'a stream that breaks': async (call, { response }) => {
      const stream = openStream()
      call.answer(stream.response)
      const text = (await response).text()
      stream.breakOff()
      expect(await text).toContain('error')
    },
    'a client that leaves a stream': async (call, { response }) => {
      call.answer(openStream().response)
      await (await response).body?.cancel()
    },
    'a client that leaves before the response': async (_call, { response, leave }) => {
      leave()
      await response.catch(() => {})
    },
    'a rejection': async (call, { response }) => {
      call.answer(new Response('{"error":{"message":"no"}}', { status: 429 }))
      expect((await response).status).toBe(429)
    },
    'an upstream that is not reached': async (call, { response }) => {
      call.answer(new Error('ECONNRESET'))
      expect((await response).status).toBe(502)
    },
    'a credential that is revoked in a stream': async (call, { response, revoke }) => {
      call.answer(openStream().response)
      const text = (await response).text()
      revoke()
      expect(await text).toContain('error')
    },
    'a complete response without streaming': async (call, { response }) => {
      call.answer(completeStream())
      expect((await response).status).toBe(200)
    },
    'the time limit of a request without streaming': async (_call, { response, process }) => {
      await process.clock.pass(200_000)
      // What has arrived until then: nothing.
      expect((await response).headers.get('x-upstream-partialresponse')).toBe('true')
    },
  }

  test.each(Object.entries(ends))(
    'keep their assets at the upstream until %s',
    async (name, end) => {
      let revoke = (): void => {}
      const whenRevoked = (listener: () => void) => {
        revoke = listener
        return () => {}
      }
      await using process = await open(1, { whenRevoked })
      const [first = ''] = await process.added('ann', await process.group('ann', 'pins'), 1)
      const [second = ''] = await process.added('bob', await process.group('bob', 'pins'), 1)
      const leaving = new AbortController()
      const stream = !name.includes('without streaming')
      const response = process.chat('ann', [first], { stream, signal: leaving.signal })
      const call = await callNumber(process, 1)
      expect(ownIdsIn(call)).toEqual([first])
      // Neither a task nor a request takes the slot.
      expect(await process.assets.place?.([second], 'cgt-2')).toBeUndefined()
      const waiting = process.chat('bob', [second])
      await until(async () => (await process.waiting()) > 0)
      expect(process.calls).toHaveLength(1)
      expect(ownIdsIn(call)).toEqual([first])
      await end(call, { response, leave: () => leaving.abort(), revoke: () => revoke(), process })
      if (name.startsWith('the time limit')) {
        // The other one has waited for too long meanwhile.
        expect((await waiting).status).toBe(503)
        await until(() => process.uses.size === 0)
        expect((await process.placed([second], 'cgt-3')).size).toBe(1)
        return
      }
      const next = await callNumber(process, 2)
      expect(ownIdsIn(next)).toEqual([second])
      next.answer(completeStream())
      await (await waiting).text()
      await until(() => process.uses.size === 0)
    },
    timeoutMs,
  )

  test(
    'keep their assets for as long as a stream goes on',
    async () => {
      await using process = await open(1)
      const [first, second] = await twoAssets(process, 'stream')
      const response = process.chat('ann', [first])
      const call = await callNumber(process, 1)
      const stream = openStream()
      call.answer(stream.response)
      const reader = (await response).body?.getReader()
      expect((await reader?.read())?.done).toBe(false)
      for (let nth = 0; nth < 5; nth++) {
        await process.clock.pass(10_000)
        expect(await process.assets.place?.([second], 'cgt-2')).toBeUndefined()
      }
      expect(ownIdsIn(call)).toEqual([first])
      stream.end()
      while (!(await reader?.read())?.done);
      await until(() => process.uses.size === 0)
      expect((await process.placed([second], 'cgt-2')).size).toBe(1)
    },
    timeoutMs,
  )

  test(
    'go on in the background with the assets that they have',
    async () => {
      await using process = await open(1)
      const [first, second] = await twoAssets(process, 'background')
      const body = { model: 'm', background: true, input: inputOf(first) }
      const answering = process.send('ann', '/responses', body)
      const call = await callNumber(process, 1)
      call.answer(Response.json({ id: 'resp_1', object: 'response', status: 'queued', background: true, output: [] }))
      expect((await answering).status).toBe(200)
      await process.clock.pass(14 * 60_000)
      expect(await process.assets.place?.([second], 'cgt-2')).toBeUndefined()
      await process.clock.pass(2 * 60_000)
      expect((await process.placed([second], 'cgt-2')).size).toBe(1)
    },
    timeoutMs,
  )
})
