import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { failure, json, scripted } from './scripted.ts'

const read = { action: 'GetAsset', id: 'a' } as const

describe('a caller who leaves takes the call along', () => {
  test('before an answer', async () => {
    const leaving = new AbortController()
    await using upstream = await scripted(() => leaving.abort())
    await failure(upstream.upstream().send(read, { signal: leaving.signal }))
    await upstream.closed
    expect(upstream.seen).toHaveLength(1)
  })

  test('in the middle of an answer', async () => {
    const leaving = new AbortController()
    await using upstream = await scripted((response) => {
      response.writeHead(200).write('{')
      setImmediate(() => leaving.abort())
    })
    await failure(upstream.upstream().send(read, { signal: leaving.signal }))
    await upstream.closed
  })

  test('having left already, nothing is sent', async () => {
    await using upstream = await scripted(json('{}'))
    await failure(upstream.upstream().send(read, { signal: AbortSignal.abort() }))
    expect(upstream.seen).toEqual([])
  })

  test('who stays is not held on to', async () => {
    const staying = new AbortController()
    await using upstream = await scripted(json('{}'), json('{}', 500), json('[]'))
    for (let call = 0; call < 3; call++) {
      await upstream
        .upstream()
        .send(read, { signal: staying.signal })
        .catch(() => {})
    }
    expect(getEventListeners(staying.signal, 'abort')).toHaveLength(0)
  })
})

describe('every call that has ended is reported once', () => {
  test('with its status, or 0', async () => {
    await using upstream = await scripted(json('{}'), json('{}', 404), json('nonsense'), () => {})
    const calls: unknown[] = []
    const { send } = upstream.upstream({
      timeoutMs: 100,
      observe: ({ action, status, seconds }) => calls.push([action, status, seconds >= 0]),
    })
    for (let call = 0; call < 4; call++) await send(read).catch(() => {})
    expect(calls).toEqual([200, 404, 200, 0].map((status) => ['GetAsset', status, true]))
  })
})
