import { describe, expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { failure, json, startScriptedUpstream } from './scripted-upstream.ts'

const read = { action: 'GetAsset', id: 'a' } as const

describe('the disconnect of the caller aborts the call', () => {
  test('before the response', async () => {
    const leaving = new AbortController()
    await using upstream = await startScriptedUpstream(() => leaving.abort())
    await failure(upstream.upstream().send(read, { signal: leaving.signal }))
    await upstream.closed
    expect(upstream.seen).toHaveLength(1)
  })

  test('during the response', async () => {
    const leaving = new AbortController()
    await using upstream = await startScriptedUpstream((response) => {
      response.writeHead(200).write('{')
      setImmediate(() => leaving.abort())
    })
    await failure(upstream.upstream().send(read, { signal: leaving.signal }))
    await upstream.closed
  })

  test('before the call: nothing is sent', async () => {
    await using upstream = await startScriptedUpstream(json('{}'))
    await failure(upstream.upstream().send(read, { signal: AbortSignal.abort() }))
    expect(upstream.seen).toEqual([])
  })

  test('after a completed call the signal keeps no listener', async () => {
    const staying = new AbortController()
    await using upstream = await startScriptedUpstream(json('{}'), json('{}', 500), json('[]'))
    for (let call = 0; call < 3; call++) {
      await upstream
        .upstream()
        .send(read, { signal: staying.signal })
        .catch(() => {})
    }
    expect(getEventListeners(staying.signal, 'abort')).toHaveLength(0)
  })
})

describe('every finished call is reported once', () => {
  test('with its status, or 0', async () => {
    await using upstream = await startScriptedUpstream(json('{}'), json('{}', 404), json('nonsense'), () => {})
    const calls: unknown[] = []
    const { send } = upstream.upstream({
      timeoutMs: 100,
      observe: ({ action, status, seconds }) => calls.push([action, status, seconds >= 0]),
    })
    for (let call = 0; call < 4; call++) await send(read).catch(() => {})
    expect(calls).toEqual([200, 404, 200, 0].map((status) => ['GetAsset', status, true]))
  })
})
