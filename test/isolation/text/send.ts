import assert from 'node:assert/strict'
import type { Call } from '../../../src/emulator/index.ts'
import { askRaw, internalDetails, type Reply } from '../../support/gateway.ts'
import type { Fixture } from './fixture.ts'
import { type Model, unescaped } from './model.ts'

/** A request of a user. */
export interface TestRequest {
  readonly user: number
  /** Index of the gateway. */
  readonly at: number
  readonly method: string
  /** Below `/v1`. */
  readonly path: string
  /** JSON text. */
  readonly body?: string
  /** Ids that the request contains. The response may repeat them. */
  readonly named?: readonly string[]
  readonly signal?: AbortSignal
}

/** Sends a request. Resolves with the response before its body is read. */
export const startRequest = (
  fixture: Fixture,
  model: Model,
  { user, at, method, path, body, signal }: TestRequest,
): Promise<Response> =>
  fetch(`${fixture.urls[at as 0]}/v1${path}`, {
    ...{ method, body, signal, redirect: 'manual' },
    headers: {
      authorization: `Bearer ${model.users[user]?.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  })

/** Sends a request and checks every upstream call it causes. Call it before the model is updated. */
export const sendChecked = async (fixture: Fixture, model: Model, request: TestRequest): Promise<Reply> => {
  fixture.emulator.clearCalls()
  const reply = await send(fixture, model, request)
  checkUpstreamCalls(fixture, model, request)
  return reply
}

/** Sends a request without checking upstream calls: for concurrent requests. */
export const send = async (fixture: Fixture, model: Model, request: TestRequest): Promise<Reply> => {
  const reply = hasOddSegments(request.path)
    ? await askRaw(fixture.urls[request.at as 0], `/v1${request.path}`, {
        method: request.method,
        headers: { authorization: `Bearer ${model.users[request.user]?.token}` },
      })
    : await replyOf(await startRequest(fixture, model, request))
  checkNoLeak(model, request, reply)
  return reply
}

export const replyOf = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json }
}

const hasOddSegments = (path: string): boolean => /[\\#\t\n]|\/(?:\.|%2e){1,2}(?:[/?]|$)|\/\//i.test(path)

/** No response contains a foreign id that the caller did not send, or a text of another user. */
export const checkNoLeak = (
  model: Model,
  { user, named = [] }: TestRequest,
  { status, text, headers }: Reply,
): void => {
  const received = `${text}\n${JSON.stringify([...headers])}`
  const others = [...model.objects.values()].filter((object) => !model.mayReveal(user, object))
  for (const { id, kind } of others) {
    assert.ok(!received.includes(id) || named.some((name) => name.includes(id)), `leaks the ${kind} ${id}`)
  }
  for (const other of model.users.keys()) {
    assert.ok(other === user || !received.includes(model.secretStart(other)), 'leaks a text of another user')
  }
  if (status >= 400)
    assert.doesNotMatch(
      named.reduce((rest, id) => rest.replaceAll(id.slice(0, 256), ''), text),
      internalDetails,
    )
}

/** The upstream calls of a request. Throws when one contains a foreign id. */
export const checkUpstreamCalls = (fixture: Fixture, model: Model, request: TestRequest): readonly Call[] => {
  const calls = fixture.emulator.calls.filter((call) => !isOthers(call, fixture, request))
  for (const call of calls) checkUpstreamCall(call, fixture, model, request.user)
  return calls
}

/** Calls of the fixture itself, and polls of background responses by the gateways. */
const isOthers = ({ action, path }: Call, { polls }: Fixture, request: TestRequest): boolean =>
  action === 'CreateConversation' || (polls && action === 'GetResponse' && path !== `/v1${request.path}`)

const known =
  /^\/v1\/(?:chat\/completions|responses(?:\/[A-Za-z0-9_.!~*'()-]+(?:\/cancel|\/input_items)?)?)(?:\?[^#]*)?$/

const checkUpstreamCall = (call: Call, { emulator }: Fixture, model: Model, user: number): void => {
  const { path, body, headers, action } = call
  assert.equal(headers.authorization, `Bearer ${emulator.text.key}`)
  assert.match(path, known)
  const sent = `${path}\n${unescaped(path)}\n${JSON.stringify(headers)}\n${body}\n${unescaped(body)}`
  for (const { token } of model.users) assert.ok(!sent.includes(token), 'the gateway sent a caller’s token upstream')
  for (const object of model.objects.values()) {
    const { kind, id } = object
    assert.ok(
      model.mayReveal(user, object) || !sent.includes(id),
      `${action} names the ${kind} ${id}, which is not the caller's`,
    )
  }
}

/** The error for a foreign id has the same status, headers and body as the error for an unknown id. The gateway makes no upstream call. */
export const checkNotFound = async (
  fixture: Fixture,
  model: Model,
  request: TestRequest,
  reply: Reply,
  [id, never]: readonly [string, string],
): Promise<void> => {
  assert.deepEqual(
    checkUpstreamCalls(fixture, model, request).map(({ action }) => action),
    [],
    'the gateway made an upstream call for a rejected request',
  )
  assert.ok([400, 404].includes(reply.status), `${reply.status} ${reply.text}`)
  assert.equal(reply.json?.error?.type, 'invalid_request_error', reply.text)
  // The error may show an id of another form escaped, or contain it by chance.
  if (!/^[a-z]+[_-]\w{20,}$/.test(id)) return
  const swapped = (text: string) => text.replaceAll(id, never)
  const { body, named = [] } = request
  const swappedRequest = {
    ...request,
    path: swapped(request.path),
    body: body && swapped(body),
    named: [...named, never],
  }
  const other = await send(fixture, model, swappedRequest)
  assert.equal(`${reply.status} ${swapped(reply.text)}`, `${other.status} ${other.text}`)
  assert.deepEqual(headersOf(reply, swapped), headersOf(other, swapped))
}

const headersOf = ({ headers }: Reply, swapped: (text: string) => string) =>
  [...headers]
    .filter(([name]) => !/^(?:date|x-request-id|content-length)$/.test(name))
    .map(([name, value]) => [name, swapped(value)])
