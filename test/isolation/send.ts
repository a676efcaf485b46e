import assert from 'node:assert/strict'
import { internalDetails, type Reply } from '../support/gateway.ts'
import { checkUpstreamCall } from './check-upstream-call.ts'
import type { ExpectedResponse } from './faults.ts'
import type { Fixture } from './fixture.ts'
import type { Model } from './model.ts'

/** A request of a user. */
export interface TestRequest {
  readonly user: number
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Ids that the request contains. */
  readonly named?: readonly string[]
  /** Whether it may list what others lend to the user. Default false. */
  readonly readsLent?: boolean
}

/** Sends a request and checks every upstream call it causes. Call it before the model is updated. */
export const sendChecked = async (fixture: Fixture, model: Model, request: TestRequest): Promise<Reply> => {
  fixture.emulator.clearCalls()
  const reply = await send(model, request)
  const calls = [...fixture.emulator.calls]
  const { user, named = [], readsLent = false } = request
  for (const call of calls) checkUpstreamCall(call, fixture, model, { user, named, readsLent })
  const changes = calls.filter((call) => /^(?:Create|Update|Delete)/.test(call.action))
  assert.ok(changes.length <= 1, `${changes.length} changes for one request`)
  fixture.emulator.faults.clear()
  return reply
}

/** Sends a request without checking upstream calls: for concurrent requests. */
export const send = async (
  model: Model,
  { user, method, path, body, headers, named = [] }: TestRequest,
): Promise<Reply> => {
  const caller = model.users[user]
  assert.ok(caller)
  const reply = await caller.ask(method, path, body, headers)
  checkNoLeak(reply, model, user, named)
  return reply
}

/** No response contains the id of a foreign object, unless the caller sent that id. */
const checkNoLeak = (reply: Reply, model: Model, user: number, named: readonly string[]): void => {
  const leaks = (id: string) => reply.text.includes(id) && !named.some((name) => name.includes(id))
  for (const group of model.groups.values()) {
    const mayShow = group.creator === user || model.readsGroup(user, group.id)
    assert.ok(mayShow || !leaks(group.id), `leaks the group ${group.id}`)
  }
  for (const asset of model.assets.values()) {
    const creator = model.groups.get(asset.group)?.creator
    assert.ok(creator === user || model.readsAsset(user, asset.id) || !leaks(asset.id), `leaks the asset ${asset.id}`)
  }
  if (reply.status >= 400) assert.doesNotMatch(reply.text, internalDetails)
}

export const errorBody = (message: string): string =>
  JSON.stringify({ success: false, error: { message, type: 'media_proxy_error' } })

export const messages = {
  group: 'group_id does not belong to your asset groups',
  groups: 'GroupIds contain asset groups not belonging to you',
  asset: 'asset not found in your asset group',
  taken: 'an asset group with the same Name and GroupType already exists',
  pending: 'the outcome of an earlier request for the same Name and GroupType is not known yet; try again shortly',
  borrower: 'there is no such user or team to lend to',
  share: 'share not found',
  lend: 'the asset group can no longer be lent',
  consent: 'only groups of type LivenessFace have a consent',
  withdrawn: 'the person of this group no longer authorizes its use',
  unavailable: 'Seedance upstream unavailable',
  invalid: 'upstream returned an invalid response',
} as const

export const checkError = (reply: Reply, status: number, message: string): void => {
  assert.equal(`${reply.status} ${reply.text}`, `${status} ${errorBody(message)}`)
}

/** A 400 that the gateway itself sends. */
export const checkInvalid = (reply: Reply): void => {
  assert.equal(reply.status, 400, reply.text)
  assert.equal(reply.json?.error?.type, 'media_proxy_error', reply.text)
}

export const checkExpected = (reply: Reply, expected: ExpectedResponse): void => {
  assert.equal(reply.status, expected.status, reply.text)
  if (expected.shows === 'unavailable' || expected.shows === 'invalid') {
    assert.equal(reply.text, errorBody(messages[expected.shows]))
  } else if (expected.shows === 'empty') {
    assert.equal(reply.text, '')
  } else {
    assert.ok(!reply.text.includes('"success":false'), reply.text)
    if (expected.shows === 'normal') {
      assert.equal(typeof reply.json?.ResponseMetadata?.RequestId, 'string', reply.text)
      assert.equal(reply.json.ResponseMetadata.Error !== undefined, expected.status >= 400, reply.text)
    }
  }
}
