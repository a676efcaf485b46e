import assert from 'node:assert/strict'
import type { Call } from '../../../src/emulator/index.ts'
import { askRaw, inside, type Reply } from '../../support/gateway.ts'
import type { World } from './fixture.ts'
import { type Model, unescaped } from './model.ts'

/** A request of a user. */
export interface Ask {
  readonly user: number
  /** Which gateway. */
  readonly at: number
  readonly method: string
  /** Below `/v1`. */
  readonly path: string
  /** JSON's own text. */
  readonly body?: string
  /** Ids in it, which an answer may repeat. */
  readonly named?: readonly string[]
  readonly signal?: AbortSignal
}

/** Sends a request, and gives the response before its body is read. */
export const send = (world: World, model: Model, { user, at, method, path, body, signal }: Ask): Promise<Response> =>
  fetch(`${world.urls[at as 0]}/v1${path}`, {
    ...{ method, body, signal, redirect: 'manual' },
    headers: {
      authorization: `Bearer ${model.users[user]?.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  })

/** Asks a gateway and looks at everything that went upstream meanwhile. Whose everything is must not have been changed in the model yet. */
export const ask = async (world: World, model: Model, asked: Ask): Promise<Reply> => {
  world.emulator.clearCalls()
  const reply = await asking(world, model, asked)
  watchCalls(world, model, asked)
  return reply
}

/** The same without the look upstream, for requests that run beside others. */
export const asking = async (world: World, model: Model, asked: Ask): Promise<Reply> => {
  const reply = hasOddSegments(asked.path)
    ? await askRaw(world.urls[asked.at as 0], `/v1${asked.path}`, {
        method: asked.method,
        headers: { authorization: `Bearer ${model.users[asked.user]?.token}` },
      })
    : await replyOf(await send(world, model, asked))
  checkSilence(model, asked, reply)
  return reply
}

export const replyOf = async (response: Response): Promise<Reply> => {
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json }
}

const hasOddSegments = (path: string): boolean => /[\\#\t\n]|\/(?:\.|%2e){1,2}(?:[/?]|$)|\/\//i.test(path)

/** No answer tells of what is not the caller's: no id that the caller did not name, nothing that others said. */
export const checkSilence = (model: Model, { user, named = [] }: Ask, { status, text, headers }: Reply): void => {
  const told = `${text}\n${JSON.stringify([...headers])}`
  const others = [...model.things.values()].filter((thing) => !model.mayTell(user, thing))
  for (const { id, kind } of others) {
    assert.ok(!told.includes(id) || named.some((name) => name.includes(id)), `tells of the ${kind} ${id}`)
  }
  for (const other of model.users.keys()) {
    assert.ok(other === user || !told.includes(model.secretStart(other)), 'tells what another user said')
  }
  if (status >= 400)
    assert.doesNotMatch(
      named.reduce((rest, id) => rest.replaceAll(id.slice(0, 256), ''), text),
      inside,
    )
}

/** The calls that a request has made: throws when one names what is not the caller's. */
export const watchCalls = (world: World, model: Model, asked: Ask): readonly Call[] => {
  const calls = world.emulator.calls.filter((call) => !isOthers(call, world, asked))
  for (const call of calls) watchCall(call, world, model, asked.user)
  return calls
}

/** What the world itself does, and what gateways do by themselves to see what goes on in the background. */
const isOthers = ({ action, path }: Call, { looksAfter }: World, asked: Ask): boolean =>
  action === 'CreateConversation' || (looksAfter && action === 'GetResponse' && path !== `/v1${asked.path}`)

const known =
  /^\/v1\/(?:chat\/completions|responses(?:\/[A-Za-z0-9_.!~*'()-]+(?:\/cancel|\/input_items)?)?)(?:\?[^#]*)?$/

const watchCall = (call: Call, { emulator }: World, model: Model, user: number): void => {
  const { path, body, headers, action } = call
  assert.equal(headers.authorization, `Bearer ${emulator.text.key}`)
  assert.match(path, known)
  const sent = `${path}\n${unescaped(path)}\n${JSON.stringify(headers)}\n${body}\n${unescaped(body)}`
  for (const { token } of model.users) assert.ok(!sent.includes(token), 'a token of a caller went upstream')
  for (const thing of model.things.values()) {
    const { kind, id } = thing
    assert.ok(
      model.mayTell(user, thing) || !sent.includes(id),
      `${action} names the ${kind} ${id}, which is not the caller's`,
    )
  }
}

/** A request that is refused is refused in the very words, and headers, in which it is refused with an id that nobody ever had; and without a call. */
export const checkUnknown = async (
  world: World,
  model: Model,
  asked: Ask,
  reply: Reply,
  [id, never]: readonly [string, string],
): Promise<void> => {
  assert.deepEqual(
    watchCalls(world, model, asked).map(({ action }) => action),
    [],
    'what is refused was asked for upstream',
  )
  assert.ok([400, 404].includes(reply.status), `${reply.status} ${reply.text}`)
  assert.equal(reply.json?.error?.type, 'invalid_request_error', reply.text)
  // An id of another form may be repeated in another form, or stand in the words themselves.
  if (!/^[a-z]+[_-]\w{20,}$/.test(id)) return
  const swapped = (text: string) => text.replaceAll(id, never)
  const { body, named = [] } = asked
  const twin = { ...asked, path: swapped(asked.path), body: body && swapped(body), named: [...named, never] }
  const other = await asking(world, model, twin)
  assert.equal(`${reply.status} ${swapped(reply.text)}`, `${other.status} ${other.text}`)
  assert.deepEqual(headersOf(reply, swapped), headersOf(other, swapped))
}

const headersOf = ({ headers }: Reply, swapped: (text: string) => string) =>
  [...headers]
    .filter(([name]) => !/^(?:date|x-request-id|content-length)$/.test(name))
    .map(([name, value]) => [name, swapped(value)])
