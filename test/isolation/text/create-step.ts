import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { Reply } from '../../support/gateway.ts'
import { bridgedModel, type Fixture, nativeModel } from './fixture.ts'
import { unusedId } from './id-choice.ts'
import type { Model } from './model.ts'
import { isRead, type Reference, type ResolvedReference, reference, resolveReferences } from './request.ts'
import {
  checkNoLeak,
  checkNotFound,
  checkUpstreamCalls,
  replyOf,
  send,
  startRequest,
  type TestRequest,
} from './send.ts'
import { step, user } from './step.ts'

/** How a response is requested, and how it ends. */
const modes = [
  ...['plain', 'plain', 'stream', 'stream', 'timeout', 'disconnect', 'background', 'background stream'],
] as const

type Mode = (typeof modes)[number]

export interface Creation {
  readonly user: number
  readonly at: number
  readonly model: typeof nativeModel | typeof bridgedModel
  readonly mode: Mode
  readonly store: boolean
  readonly startsConversation: boolean
  readonly reasons: boolean
  readonly references: readonly Reference[]
}

export const creation = (): fc.Arbitrary<Creation> =>
  fc.record({
    user,
    at: fc.nat(1),
    model: fc.oneof(
      { arbitrary: fc.constant(nativeModel as Creation['model']), weight: 7 },
      { arbitrary: fc.constant(bridgedModel as Creation['model']), weight: 2 },
    ),
    mode: fc.constantFrom(...modes),
    store: fc.oneof({ arbitrary: fc.constant(true), weight: 7 }, { arbitrary: fc.constant(false), weight: 1 }),
    startsConversation: fc.nat(3).map((n) => n === 0),
    reasons: fc.nat(3).map((n) => n === 0),
    references: fc.oneof(
      { arbitrary: fc.constant([]), weight: 3 },
      { arbitrary: reference().map((one) => [one]), weight: 5 },
      { arbitrary: fc.tuple(reference(), reference()), weight: 1 },
    ),
  })

export const create = step('create', creation(), async (wanted, model, fixture) => {
  const given = fixture.bridges ? wanted : { ...wanted, model: nativeModel as Creation['model'] }
  const { user, at, mode } = given
  const prepared = prepare(given, model)
  fixture.emulator.clearCalls()
  const { reply, shown } = await senders[mode](fixture, model, prepared.request)
  const calls = checkUpstreamCalls(fixture, model, prepared.request)
  const { rejected, named } = prepared

  if (given.model === bridgedModel) {
    for (const { action } of calls) assert.equal(action, 'CreateChatCompletion')
    if (prepared.read.some(({ slot, owned }) => refusedOnBridges.includes(slot) && owned !== 'maybe'))
      assert.ok(reply.status >= 400, reply.text)
    if (reply.status >= 400 && calls.length === 0 && rejected)
      await checkNotFound(fixture, model, prepared.request, reply, [rejected.id, unusedId(rejected.kind, at)])
    return record(given, model, prepared, shown)
  }
  if (rejected) {
    await checkNotFound(fixture, model, prepared.request, reply, [rejected.id, unusedId(rejected.kind, at)])
    if (rejected.slot === 'previous') {
      assert.equal(`${reply.status} ${reply.json.error.code}`, '400 previous_response_not_found', reply.text)
    }
    return
  }
  const sure = named.every(({ owned }) => owned === 'yes')
  if (sure) {
    assert.deepEqual(
      calls.map(({ action }) => action),
      ['CreateResponse'],
      reply.text,
    )
    // An error response that stalls ends by timeout, too.
    const partial = reply.headers.has('x-upstream-partialresponse')
    assert.equal(reply.status < 400, prepared.accepted || partial, reply.text)
  }
  record(given, model, prepared, shown)
  if (reply.status !== 200 || !shown?.id) return
  const object = model.objects.get(shown.id)
  if (object?.known !== 'yes') return
  if (sure && shown.whole && !object.background)
    for (const text of prepared.recalled) assert.ok(shown.text.includes(text), `lacks “${text}”: ${shown.text}`)
  // The owner can use an id at once, through every gateway.
  const look = await send(fixture, model, { user, at: 1 - at, method: 'GET', path: `/responses/${shown.id}` })
  assert.equal(look.status, 200, `its owner cannot read ${shown.id}: ${look.text}`)
  model.showOutput(user, look.json, model.now())
})

const refusedOnBridges: readonly ResolvedReference['slot'][] = [
  ...(['previous', 'conversation', 'conversation object', 'prompt', 'file', 'picture'] as const),
  ...(['container', 'container files', 'vector store'] as const),
]

/** What a response has shown to its caller. */
interface Shown {
  readonly id: string | undefined
  readonly conversation: string | undefined
  /** Items of a complete response. The owner of the items of a partial response is not specified. */
  readonly items: readonly string[]
  readonly whole: boolean
  readonly text: string
}

interface Prepared {
  readonly request: TestRequest
  readonly named: readonly ResolvedReference[]
  /** References that the upstream reads: it ignores other spellings of a key. */
  readonly read: readonly ResolvedReference[]
  /** The first reference that the gateway must reject. */
  readonly rejected: ResolvedReference | undefined
  /** Whether the upstream accepts the request. */
  readonly accepted: boolean
  readonly secret: string
  readonly since: number
  /** Texts that the response must contain. */
  readonly recalled: readonly string[]
}

export const prepare = (given: Creation, model: Model): Prepared => {
  const { user, at, mode, store, startsConversation, reasons } = given
  const conversations = given.references.filter(({ slot }) => slot.startsWith('conversation'))
  const references = given.references.filter((one) => !conversations.includes(one) || one === conversations[0])
  const named = resolveReferences(model, user, references)
  for (const { slot, id } of named) if (slot === 'label') model.label(user, id)
  const secret = model.secret(user)
  const background = mode.startsWith('background')
  const continues = named.some(({ kind }) => kind === 'conversation' || kind === 'response')
  const members = [
    `"model":${JSON.stringify(given.model)}`,
    ...named.flatMap(({ members }) => members),
    `"input":[${[...named.flatMap(({ items }) => items), JSON.stringify({ role: 'user', content: secret })]}]`,
    ...(named.some(({ tools }) => tools.length > 0) ? [`"tools":[${named.flatMap(({ tools }) => tools)}]`] : []),
    ...(startsConversation && !continues && !background ? ['"metadata":{"begins":"yes"}'] : []),
    ...(reasons && given.model === nativeModel ? ['"reasoning":{"effort":"low"}'] : []),
    ...(store || background ? [] : ['"store":false']),
    ...(/stream|disconnect/.test(mode) ? ['"stream":true'] : []),
    ...(background ? ['"background":true'] : []),
  ]
  const read = named.filter((one) => isRead(one, references))
  return {
    request: { user, at, method: 'POST', path: '/responses', body: `{${members}}`, named: named.map(({ id }) => id) },
    ...{ named, read },
    rejected: named.find(({ owned }) => owned === 'no'),
    accepted:
      read.every(({ meant }) => model.isThere(meant)) &&
      new Set(read.flatMap(({ kind }) => (kind === 'item' ? [] : kind))).size < 2,
    secret,
    since: model.now(),
    recalled: [secret, ...read.flatMap(({ meant }) => model.objects.get(meant)?.history ?? [])],
  }
}

/** Adds the created objects to the model, and what their owner has seen of them. */
export const record = (
  given: Creation,
  model: Model,
  { secret, recalled, named, since }: Prepared,
  shown: Shown | undefined,
): void => {
  const { user, mode, store } = given
  const background = mode.startsWith('background')
  const made = model.addNew(user, { background, streams: /stream|disconnect/.test(mode) })
  // The gateways may have recorded it before the timeout.
  if (!shown?.whole) for (const object of made) object.known = 'maybe'
  const response = model.objects.get(shown?.id ?? made.find(({ kind }) => kind === 'response')?.id ?? '')
  if (response) response.history = [...recalled]
  if (response && shown?.id !== undefined) model.show(user, shown.id, since)
  if (shown?.conversation !== undefined) model.show(user, shown.conversation, since)
  for (const id of shown?.items ?? []) {
    if (store || background) model.show(user, id, since)
    // With `store: false` a conversation may still keep items. The gateways record items that the upstream may look up.
    else model.mayKnow(user, id)
  }
  // The gateways may keep a bridged response and its items, for their user only.
  for (const id of response ? [] : [shown?.id ?? [], shown?.items ?? []].flat())
    model.add({ kind: id === shown?.id ? 'response' : 'item', id, owner: user, known: 'maybe' })
  const conversation = shown?.conversation ?? named.find(({ kind }) => kind === 'conversation')?.id
  // A background response adds to its conversation later: this model ignores it. An error response that stalled until the timeout adds nothing.
  if ((made.length > 0 || shown?.whole) && !background) model.objects.get(conversation ?? '')?.history.push(secret)
}

interface SenderResult {
  readonly reply: Reply
  readonly shown: Shown | undefined
}

type Sender = (fixture: Fixture, model: Model, request: TestRequest) => Promise<SenderResult>

const plain: Sender = async (fixture, model, request) => {
  const reply = await send(fixture, model, request)
  return { reply, shown: reply.status === 200 ? shownIn([reply.json], reply.text, true) : undefined }
}

/** Stalls in the middle, so that the gateway's timeout ends it. */
const timedOut: Sender = async (fixture, model, request) => {
  const fault = fixture.emulator.faults.add({ kind: 'silence', events: 4 })
  const answering = send(fixture, model, request)
  const stalled = await Promise.race([fault.waitForHits().then(() => true), answering.then(() => false)])
  if (stalled) {
    // The sent part arrives in real time. A response without any part is valid, too.
    await wait(4)
    await fixture.timeOut()
  }
  const reply = await answering
  fault.remove()
  const partial = reply.headers.has('x-upstream-partialresponse')
  assert.equal(partial, stalled, reply.text)
  return { reply, shown: reply.status === 200 ? shownIn([reply.json], reply.text, !partial) : undefined }
}

/** Reads until the id arrives. Then it disconnects, or reads to the end. */
const streamed =
  (disconnects: boolean): Sender =>
  async (fixture, model, request) => {
    const left = new AbortController()
    const response = await startRequest(fixture, model, { ...request, signal: left.signal })
    if (response.status !== 200 || !response.body) {
      const reply = await replyOf(response)
      checkNoLeak(model, request, reply)
      return { reply, shown: undefined }
    }
    const { status, headers } = response
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!/"response":\{"id":"[^"]+"/.test(text) || !text.includes('\n\n')) {
      const { done, value } = await reader.read()
      if (done) break
      text += value
    }
    const first = shownIn(eventsIn(text), text, false)
    if (disconnects) {
      await reader.cancel().catch(() => undefined)
      left.abort()
    } else {
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    }
    const reply = { status, headers, text, json: undefined }
    checkNoLeak(model, request, reply)
    return { reply, shown: disconnects ? first : shownIn(eventsIn(text), text, true) }
  }

const senders: Readonly<Record<Mode, Sender>> = {
  plain,
  timeout: timedOut,
  background: plain,
  stream: streamed(false),
  disconnect: streamed(true),
  'background stream': streamed(true),
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
export const shownIn = (responses: readonly any[], text: string, whole: boolean): Shown => {
  const last = responses.at(-1)
  const items =
    whole && last?.status !== 'in_progress' ? (last?.output ?? []).map(({ id }: { id: unknown }) => String(id)) : []
  return { id: last?.id, conversation: last?.conversation?.id, items, whole, text }
}

/** The response objects in the events of a stream. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const eventsIn = (text: string): readonly any[] =>
  [...text.matchAll(/^data: (\{.*\})\n/gm)].flatMap(([, data = '']) => JSON.parse(data).response ?? [])
