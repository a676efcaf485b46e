import { describe, expect, test } from 'bun:test'
import { type Operation, UpstreamUnreachableError } from '../../plugins/upstream-proxy/index.ts'
import { bodyOf, failure, json, ownAsset, ownGroup, reset, startScriptedUpstream } from './scripted-upstream.ts'

const query = { groupType: 'AIGC', sortBy: 'CreateTime', sortOrder: 'Desc', paging: { maxResults: 100 } } as const
const reads: readonly Operation[] = [
  { action: 'GetAsset', id: 'a' },
  { action: 'ListAssets', query: { ...query, groups: [ownGroup('g')] } },
  { action: 'ListAssetGroups', query: { ...query, groups: [ownGroup('g')] } },
  { action: 'FindAssetGroups', groupType: 'AIGC', name: 'n' },
]
const changes: readonly Operation[] = [
  { action: 'CreateAssetGroup', body: bodyOf('{}') },
  { action: 'CreateAsset', group: ownGroup('g'), body: bodyOf('{}') },
  { action: 'UpdateAssetGroup', group: ownGroup('g'), method: 'PUT', body: bodyOf('{}') },
  { action: 'UpdateAsset', asset: ownAsset('a'), method: 'PATCH', body: bodyOf('{}') },
  { action: 'DeleteAssetGroup', group: ownGroup('g') },
  { action: 'DeleteAsset', asset: ownAsset('a') },
]

describe('a read operation is retried once', () => {
  for (const operation of reads) {
    test(`${operation.action} is retried when the connection breaks before the response`, async () => {
      await using upstream = await startScriptedUpstream(reset, json('{"Result":{}}'))
      expect((await upstream.upstream().send(operation)).status).toBe(200)
      expect(upstream.seen).toHaveLength(2)
    })
  }

  test('but not twice', async () => {
    await using upstream = await startScriptedUpstream(reset)
    const error = await failure(upstream.upstream().send({ action: 'GetAsset', id: 'a' }))
    expect(error).toMatchObject({ status: 502, message: 'Seedance upstream unavailable', sent: true })
    // A runtime may add a retry for a reused connection. Here every connection is new.
    expect(upstream.seen).toHaveLength(2)
  })

  test('while a tenth of the calls, or three, were not sent again lately', async () => {
    await using upstream = await startScriptedUpstream(reset)
    const outcomes: string[] = []
    const client = upstream.upstream({ observeRetry: (outcome) => outcomes.push(outcome) })
    for (let at = 0; at < 5; at++) await failure(client.send({ action: 'GetAsset', id: 'a' }))
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'refused', 'refused'])
    expect(upstream.seen).toHaveLength(8)
    await failure(client.send({ action: 'DeleteAsset', asset: ownAsset('a') }))
    expect(outcomes).toHaveLength(5)
  })

  test('and not after the start of a response or after an error response', async () => {
    for (const step of [json('{}', 500), json('{}', 429)]) {
      await using upstream = await startScriptedUpstream(step)
      await failure(upstream.upstream().send({ action: 'GetAsset', id: 'a' }))
      expect(upstream.seen).toHaveLength(1)
    }
    await using cut = await startScriptedUpstream((response, _, socket) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"Result"')
      response.once('drain', () => {})
      setImmediate(() => socket.destroy())
    })
    expect(await failure(cut.upstream().send({ action: 'GetAsset', id: 'a' }))).toBeInstanceOf(UpstreamUnreachableError)
    expect(cut.seen).toHaveLength(1)
  })
})

describe('a write operation is sent once', () => {
  for (const operation of changes) {
    test(`${operation.action} is not retried after a broken connection`, async () => {
      await using upstream = await startScriptedUpstream(reset, json('{"Result":{}}'))
      expect(await failure(upstream.upstream().send(operation))).toMatchObject({ status: 502, sent: true })
      expect(upstream.seen).toHaveLength(1)
    })

    test(`${operation.action} is not retried when a reused connection is dead`, async () => {
      let requests = 0
      await using upstream = await startScriptedUpstream((response, seen, socket) => {
        if (requests++ > 2) return reset(response, seen, socket)
        json('{"Result":{"Id":"x"}}')(response)
      })
      const { send } = upstream.upstream()
      for (let warm = 0; warm < 3; warm++) await send({ action: 'GetAsset', id: 'a' })
      await failure(send(operation))
      expect(upstream.seen).toHaveLength(4)
    })
  }
})
