import assert from 'node:assert/strict'
import { inside, type Reply } from '../support/gateway.ts'
import type { World } from './fixture.ts'
import type { Model } from './model.ts'
import type { Outcome } from './trouble.ts'
import { watchCall } from './watch.ts'

/** A request of a user, and what it may have to do with. */
export interface Ask {
  readonly user: number
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** Ids in it. */
  readonly named?: readonly string[]
}

/** Asks the gateway and looks at everything that went upstream meanwhile. Who owns what must not have been changed in the model yet. */
export const ask = async (world: World, model: Model, asked: Ask): Promise<Reply> => {
  world.emulator.clearCalls()
  const reply = await asking(model, asked)
  const calls = [...world.emulator.calls]
  const { user, named = [] } = asked
  for (const call of calls) watchCall(call, world, model, { user, named })
  const changes = calls.filter((call) => /^(?:Create|Update|Delete)/.test(call.action))
  assert.ok(changes.length <= 1, `${changes.length} changes for one request`)
  world.emulator.faults.clear()
  return reply
}

/** The same without the look upstream, for requests that run beside others. */
export const asking = async (model: Model, { user, method, path, body, headers, named = [] }: Ask): Promise<Reply> => {
  const caller = model.users[user]
  assert.ok(caller)
  const reply = await caller.ask(method, path, body, headers)
  checkSilence(reply, model, user, named)
  return reply
}

/** No answer tells of anything that never was the caller's and that the caller did not name. */
const checkSilence = (reply: Reply, model: Model, user: number, named: readonly string[]): void => {
  const told = (id: string) => reply.text.includes(id) && !named.some((name) => name.includes(id))
  for (const group of model.groups.values()) {
    assert.ok(group.maker === user || !told(group.id), `tells of the group ${group.id}`)
  }
  for (const asset of model.assets.values()) {
    const maker = model.groups.get(asset.group)?.maker
    assert.ok(maker === user || !told(asset.id), `tells of the asset ${asset.id}`)
  }
  if (reply.status >= 400) assert.doesNotMatch(reply.text, inside)
}

export const refusal = (message: string): string =>
  JSON.stringify({ success: false, error: { message, type: 'media_proxy_error' } })

export const messages = {
  group: 'group_id does not belong to your asset groups',
  groups: 'GroupIds contain asset groups not belonging to you',
  asset: 'asset not found in your asset group',
  taken: 'an asset group with the same Name and GroupType already exists',
  unsettled: 'an earlier request for the same Name and GroupType is still being settled; try again shortly',
  unavailable: 'Seedance upstream unavailable',
  invalid: 'upstream returned an invalid response',
} as const

export const checkRefused = (reply: Reply, status: number, message: string): void => {
  assert.equal(`${reply.status} ${reply.text}`, `${status} ${refusal(message)}`)
}

/** A 400 of the gateway's own. */
export const checkInvalid = (reply: Reply): void => {
  assert.equal(reply.status, 400, reply.text)
  assert.equal(reply.json?.error?.type, 'media_proxy_error', reply.text)
}

export const checkOutcome = (reply: Reply, outcome: Outcome): void => {
  assert.equal(reply.status, outcome.status, reply.text)
  if (outcome.shows === 'unavailable' || outcome.shows === 'invalid') {
    assert.equal(reply.text, refusal(messages[outcome.shows]))
  } else if (outcome.shows === 'empty') {
    assert.equal(reply.text, '')
  } else {
    assert.ok(!reply.text.includes('"success":false'), reply.text)
    if (outcome.shows === 'natural') {
      assert.equal(typeof reply.json?.ResponseMetadata?.RequestId, 'string', reply.text)
      assert.equal(reply.json.ResponseMetadata.Error !== undefined, outcome.status >= 400, reply.text)
    }
  }
}
