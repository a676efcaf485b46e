import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import type { Reply } from '../../support/gateway.ts'
import { bridgedModel, nativeModel, type World } from './fixture.ts'
import type { Model } from './model.ts'
import { neverId } from './pick.ts'
import { isRead, type Named, type Naming, namedBy, naming } from './request.ts'
import { step, user } from './step.ts'
import { type Ask, asking, checkSilence, checkUnknown, replyOf, send, watchCalls } from './turn.ts'

/** How an answer is asked for, and how it ends. */
const manners = ['plain', 'plain', 'stream', 'stream', 'cut', 'leave', 'background', 'background stream'] as const

type Manner = (typeof manners)[number]

export interface Creation {
  readonly user: number
  readonly at: number
  readonly model: typeof nativeModel | typeof bridgedModel
  readonly manner: Manner
  readonly store: boolean
  readonly begins: boolean
  readonly thinks: boolean
  readonly namings: readonly Naming[]
}

export const creation = (): fc.Arbitrary<Creation> =>
  fc.record({
    user,
    at: fc.nat(1),
    model: fc.oneof(
      { arbitrary: fc.constant(nativeModel as Creation['model']), weight: 7 },
      { arbitrary: fc.constant(bridgedModel as Creation['model']), weight: 1 },
    ),
    manner: fc.constantFrom(...manners),
    store: fc.oneof({ arbitrary: fc.constant(true), weight: 7 }, { arbitrary: fc.constant(false), weight: 1 }),
    begins: fc.nat(3).map((n) => n === 0),
    thinks: fc.nat(3).map((n) => n === 0),
    namings: fc.oneof(
      { arbitrary: fc.constant([]), weight: 3 },
      { arbitrary: naming().map((one) => [one]), weight: 5 },
      { arbitrary: fc.tuple(naming(), naming()), weight: 1 },
    ),
  })

export const create = step('create', creation(), async (wanted, model, world) => {
  const given = world.bridges ? wanted : { ...wanted, model: nativeModel as Creation['model'] }
  const { user, at, manner } = given
  const asked = prepare(given, model)
  world.emulator.clearCalls()
  const { reply, shown } = await answers[manner](world, model, asked.ask)
  const calls = watchCalls(world, model, asked.ask)
  const { refusal, named } = asked

  if (given.model === bridgedModel) {
    for (const { action } of calls) assert.equal(action, 'CreateChatCompletion')
    if (asked.read.some(({ slot }) => refusedOnBridges.includes(slot))) assert.ok(reply.status >= 400, reply.text)
    if (reply.status >= 400 && calls.length === 0 && refusal)
      await checkUnknown(world, model, asked.ask, reply, [refusal.id, neverId(refusal.kind, at)])
    return note(given, model, asked, shown)
  }
  if (refusal) {
    await checkUnknown(world, model, asked.ask, reply, [refusal.id, neverId(refusal.kind, at)])
    if (refusal.slot === 'previous') {
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
    // A refusal that stalls on its way is cut off as well.
    const partial = reply.headers.has('x-upstream-partialresponse')
    assert.equal(reply.status < 400, asked.works || partial, reply.text)
  }
  note(given, model, asked, shown)
  if (reply.status !== 200 || !shown?.id) return
  const thing = model.things.get(shown.id)
  if (thing?.known !== 'yes') return
  if (sure && shown.whole && !thing.background)
    for (const said of asked.recalled) assert.ok(shown.text.includes(said), `forgets “${said}”: ${shown.text}`)
  // Whoever sees an id can use it at once, in every process.
  const look = await asking(world, model, { user, at: 1 - at, method: 'GET', path: `/responses/${shown.id}` })
  assert.equal(look.status, 200, `its owner cannot have ${shown.id}: ${look.text}`)
  model.showOutput(user, look.json, model.now())
})

const refusedOnBridges: readonly Named['slot'][] = [
  ...(['previous', 'conversation', 'conversation object', 'prompt', 'file', 'picture'] as const),
  ...(['container', 'container files', 'vector store'] as const),
]

/** What an answer showed to its caller. */
interface Shown {
  readonly id: string | undefined
  readonly conversation: string | undefined
  /** Items of a whole answer; of one that was cut off nobody says whose they are. */
  readonly items: readonly string[]
  readonly whole: boolean
  readonly text: string
}

interface Prepared {
  readonly ask: Ask
  readonly named: readonly Named[]
  /** Those that an upstream reads: other spellings of a key say nothing to it. */
  readonly read: readonly Named[]
  /** The first thing for which the gateway has to refuse it. */
  readonly refusal: Named | undefined
  /** Whether the upstream has nothing against it. */
  readonly works: boolean
  readonly secret: string
  readonly since: number
  /** What the answer has to recall. */
  readonly recalled: readonly string[]
}

export const prepare = (given: Creation, model: Model): Prepared => {
  const { user, at, manner, store, begins, thinks } = given
  const conversations = given.namings.filter(({ slot }) => slot.startsWith('conversation'))
  const namings = given.namings.filter((one) => !conversations.includes(one) || one === conversations[0])
  const named = namedBy(model, user, namings)
  for (const { slot, id } of named) if (slot === 'label') model.label(user, id)
  const secret = model.secret(user)
  const background = manner.startsWith('background')
  const continues = named.some(({ kind }) => kind === 'conversation' || kind === 'response')
  const members = [
    `"model":${JSON.stringify(given.model)}`,
    ...named.flatMap(({ members }) => members),
    `"input":[${[...named.flatMap(({ items }) => items), JSON.stringify({ role: 'user', content: secret })]}]`,
    ...(named.some(({ tools }) => tools.length > 0) ? [`"tools":[${named.flatMap(({ tools }) => tools)}]`] : []),
    ...(begins && !continues && !background ? ['"metadata":{"begins":"yes"}'] : []),
    ...(thinks && given.model === nativeModel ? ['"reasoning":{"effort":"low"}'] : []),
    ...(store || background ? [] : ['"store":false']),
    ...(/stream|leave/.test(manner) ? ['"stream":true'] : []),
    ...(background ? ['"background":true'] : []),
  ]
  const read = named.filter((one) => isRead(one, namings))
  return {
    ask: { user, at, method: 'POST', path: '/responses', body: `{${members}}`, named: named.map(({ id }) => id) },
    ...{ named, read },
    refusal: named.find(({ owned }) => owned === 'no'),
    works:
      read.every(({ meant }) => model.isThere(meant)) &&
      new Set(read.flatMap(({ kind }) => (kind === 'item' ? [] : kind))).size < 2,
    secret,
    since: model.now(),
    recalled: [secret, ...read.flatMap(({ meant }) => model.things.get(meant)?.said ?? [])],
  }
}

/** Writes down what came into being, and what of it its owner saw. */
export const note = (
  given: Creation,
  model: Model,
  { secret, recalled, named, since }: Prepared,
  shown: Shown | undefined,
): void => {
  const { user, manner, store } = given
  const background = manner.startsWith('background')
  const made = model.account(user, { background, streams: /stream|leave/.test(manner) })
  // The gateways may have heard of it before the time was over.
  if (!shown?.whole) for (const thing of made) thing.known = 'maybe'
  const response = model.things.get(shown?.id ?? made.find(({ kind }) => kind === 'response')?.id ?? '')
  if (response) response.said = [...recalled]
  else if (shown?.id !== undefined) model.add({ kind: 'response', id: shown.id, owner: user })
  if (response && shown?.id !== undefined) model.show(user, shown.id, since)
  if (shown?.conversation !== undefined) model.show(user, shown.conversation, since)
  for (const id of shown?.items ?? []) {
    if (store || background) model.show(user, id, since)
    // Of what is not stored, a conversation may keep some, and the gateways know of what an upstream may look up.
    else model.doubt(user, id)
  }
  const conversation = shown?.conversation ?? named.find(({ kind }) => kind === 'conversation')?.id
  // What runs in the background adds to a conversation later, at a time that does not matter here; a refusal that stalled until the time was over adds nothing.
  if ((made.length > 0 || shown?.whole) && !background) model.things.get(conversation ?? '')?.said.push(secret)
}

interface Answered {
  readonly reply: Reply
  readonly shown: Shown | undefined
}

type Answering = (world: World, model: Model, asked: Ask) => Promise<Answered>

const plain: Answering = async (world, model, asked) => {
  const reply = await asking(world, model, asked)
  return { reply, shown: reply.status === 200 ? shownIn([reply.json], reply.text, true) : undefined }
}

/** Stalls in the middle, so that the time limit cuts it off. */
const cut: Answering = async (world, model, asked) => {
  const fault = world.emulator.faults.add({ kind: 'silence', events: 4 })
  const answering = asking(world, model, asked)
  const stalled = await Promise.race([fault.struck().then(() => true), answering.then(() => false)])
  if (stalled) {
    // What has been sent so far arrives in real time. An answer without any of it is one of the ways in which this may end.
    await wait(4)
    await world.timeOut()
  }
  const reply = await answering
  fault.remove()
  const partial = reply.headers.has('x-upstream-partialresponse')
  assert.equal(partial, stalled, reply.text)
  return { reply, shown: reply.status === 200 ? shownIn([reply.json], reply.text, !partial) : undefined }
}

/** Reads until the id is there; then, as the caller sees it, looks whether it can be used; then reads on, or leaves. */
const streamed =
  (leaves: boolean): Answering =>
  async (world, model, asked) => {
    const left = new AbortController()
    const response = await send(world, model, { ...asked, signal: left.signal })
    if (response.status !== 200 || !response.body) {
      const reply = await replyOf(response)
      checkSilence(model, asked, reply)
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
    if (leaves) {
      await reader.cancel().catch(() => undefined)
      left.abort()
    } else {
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    }
    const reply = { status, headers, text, json: undefined }
    checkSilence(model, asked, reply)
    return { reply, shown: leaves ? first : shownIn(eventsIn(text), text, true) }
  }

const answers: Readonly<Record<Manner, Answering>> = {
  plain,
  cut,
  background: plain,
  stream: streamed(false),
  leave: streamed(true),
  'background stream': streamed(true),
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every kind
export const shownIn = (responses: readonly any[], text: string, whole: boolean): Shown => {
  const last = responses.at(-1)
  const items =
    whole && last?.status !== 'in_progress' ? (last?.output ?? []).map(({ id }: { id: unknown }) => String(id)) : []
  return { id: last?.id, conversation: last?.conversation?.id, items, whole, text }
}

/** Every whole response in the events of a stream. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const eventsIn = (text: string): readonly any[] =>
  [...text.matchAll(/^data: (\{.*\})\n/gm)].flatMap(([, data = '']) => JSON.parse(data).response ?? [])
