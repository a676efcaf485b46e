import { describe, expect, test } from 'bun:test'
import OpenAI, { APIError } from 'openai'
import type { FaultKind } from '../../src/emulator/faults/faults.ts'
import { internalDetails } from '../support/gateway.ts'
import { MODEL, openVideoFixture, type VideoFixtureOptions } from '../video-generation/fixture.ts'
import { thrown, until } from './fixture.ts'

const open = async (options: VideoFixtureOptions = {}) => {
  const fixture = await openVideoFixture(options)
  const baseURL = `${fixture.gateway.url}/v1`
  const { videos } = new OpenAI({ baseURL, apiKey: fixture.ann.token, maxRetries: 0 })
  return {
    ...fixture,
    videos,
    create: () => videos.create({ prompt: 'a cat', model: MODEL }),
    fail: (kind: FaultKind, more: object = {}) => fixture.emulator.faults.add({ api: 'video', ...kind, ...more }),
  }
}

const errorOf = async (promise: Promise<unknown>) => {
  const error = await thrown(promise)
  if (!(error instanceof APIError)) throw error
  expect(error.message).not.toMatch(internalDetails)
  // A code of the vendor has an advice beside it.
  const names = Object.keys(error.error as object).filter((name) => name !== 'advice')
  expect(names.toSorted()).toEqual(['code', 'message', 'param', 'type'])
  const { status, code, type, headers } = error
  return { status, code, type, retryAfter: headers?.get('retry-after') ?? null }
}

describe('OpenAI’s client, when the upstream fails', () => {
  test('gets its limits as rate limit errors, and tries again by itself', async () => {
    await using fixture = await open()
    fixture.fail({ kind: 'rate-limit', limit: 'model-rpm' })
    expect(await errorOf(fixture.create())).toEqual({
      ...{ status: 429, code: 'ModelAccountRpmRateLimitExceeded', type: 'rate_limit_error', retryAfter: '5' },
    })
    fixture.emulator.faults.clear()
    fixture.fail({ kind: 'status', status: 429, headers: { 'retry-after-ms': '5', 'retry-after': '1' } }, { times: 1 })
    const video = await fixture.videos.create({ prompt: 'a cat', model: MODEL }, { maxRetries: 2 })
    expect(video.status).toBeOneOf(['queued', 'in_progress'])
    expect(fixture.emulator.video.tasks()).toHaveLength(1)
  })

  test('gets the video of a create call whose answer was lost, and there is only one', async () => {
    for (const kind of ['reset-after', 'truncate', 'not-json', 'empty'] as const) {
      await using fixture = await open()
      fixture.fail({ kind }, { action: 'CreateVideoTask', times: 1 })
      const { id } = await fixture.create()
      expect((await fixture.videos.retrieve(id)).id).toBe(id)
      expect(fixture.emulator.video.tasks()).toHaveLength(1)
    }
  })

  test('gets 502 when the upstream rejects the key of the gateway, and 503 while nobody knows what it has created', async () => {
    for (const [expected, kind] of [
      [502, { kind: 'status', status: 401, body: '{"error":{"code":"AuthenticationError","message":"no"}}' }],
      [503, { kind: 'redirect', location: 'http://127.0.0.1:1/' }],
      [503, { kind: 'status', status: 200, body: '{"error":{}}' }],
    ] as const) {
      await using fixture = await open({ gateway: { settleWaitMs: 50, settleMs: 10_000 } })
      fixture.fail(kind)
      const { status, type, code } = await errorOf(fixture.create())
      expect([status, type]).toEqual([expected, 'server_error'])
      if (status === 503) expect(code).toBe('create_outcome_unknown')
    }
  })

  test('gets an error page of the upstream as an error object', async () => {
    await using fixture = await open()
    for (const body of ['<html>', '', '{"error":null}', '[]', '{"error":{"message":5}}']) {
      fixture.fail({ kind: 'status', status: 400, body })
      expect(await errorOf(fixture.create())).toEqual({
        ...{ status: 400, code: null, type: 'invalid_request_error', retryAfter: null },
      })
      fixture.emulator.faults.clear()
    }
    expect((await fixture.videos.list()).data).toEqual([])
  })

  test('reads videos while the upstream is down', async () => {
    await using fixture = await open()
    const { id } = await fixture.create()
    fixture.emulator.video.finish(fixture.emulator.video.tasks()[0]?.id ?? '')
    await until(async () => (await fixture.videos.retrieve(id)).status === 'completed')
    fixture.fail({ kind: 'reset-before' })
    expect((await fixture.videos.retrieve(id)).status).toBe('completed')
    expect((await fixture.videos.list()).data).toHaveLength(1)
    expect((await fixture.videos.delete(id)).deleted).toBeTrue()
  })
})
