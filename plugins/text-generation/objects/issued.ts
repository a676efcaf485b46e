import { readId } from '../../shared/id.ts'
import { toJson } from '../../shared/json.ts'
import { type Log, Problem } from '../../shared/problem.ts'
import type { Frame, FrameReader } from '../../sse-relay/index.ts'
import { UpstreamInvalidError } from '../../upstream-proxy/index.ts'
import { jsonOf } from '../events/event.ts'
import { isReference } from './references.ts'
import type { ObjectKind, TextObject, TextObjectStore } from './store.ts'

/** Sees to it that the objects which an answer names are known as the caller's before the caller sees it. */
export interface IssuedObjects {
  /** Of a whole response. Rejects with `refusal`. */
  response(response: unknown): Promise<void>
  /**
   * Of those in the events of a stream: gives the same frames, each when what it names is known. `next` rejects with `refusal`. Items that were said to be whole
   * before the response was are kept when it ends otherwise.
   */
  frames(reader: FrameReader): FrameReader
  /** The response in the background that the answer was about, once it is known. */
  readonly pending: TextObject | undefined
  /** Why nothing of the answer may be given to its caller: what it names could not be recorded (500), or is somebody else's (502). */
  readonly refusal: Problem | undefined
}

export interface IssuedObjectsOptions {
  readonly store: TextObjectStore
  /** What is recorded of every object. */
  readonly record: Pick<TextObject, 'user' | 'token' | 'upstream' | 'model'>
  /** Whether the upstream keeps the response, so that it can be continued. Else only what has to be looked up is recorded. */
  readonly stores: boolean
  /** Whether the response is generated in the background. */
  readonly background: boolean
  /** Whether conversations have owners: not where the operator has opened them to everybody. */
  readonly conversations: boolean
  /** A response that is known as the user's already. */
  readonly own?: TextObject
  /** How long the upstream keeps objects, in milliseconds. */
  readonly keptMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly log: Log
}

/** The first look at a response in the background that nobody asks for. */
const firstLookMs = 30_000

export const createIssuedObjects = (options: IssuedObjectsOptions): IssuedObjects => {
  const { store, background, keptMs, now, log } = options
  const { user, token, upstream, model } = options.record
  const known = new Set(options.own && [`response ${options.own.id}`])
  let pending: TextObject | undefined
  let refusal: Problem | undefined

  const recorded = ({ kind, id }: Named): TextObject => {
    const createdAt = now()
    const dueAt = background && kind === 'response' ? createdAt + firstLookMs : undefined
    return { kind, id, user, token, upstream, model, createdAt, expiresAt: createdAt + keptMs, dueAt }
  }

  const keep = async (named: readonly Named[]): Promise<void> => {
    const fresh = named.filter(({ kind, id }) => !known.has(`${kind} ${id}`))
    if (fresh.length === 0) return
    const objects = fresh.map(recorded)
    const others = await store.recordTextObjects(objects).catch((cause: unknown) => {
      refusal = new Problem(500, 'response could not be recorded', { cause })
      throw refusal
    })
    for (const { kind, id } of others) {
      // An item that stays another's is one that this user cannot refer to; its text is in the answer all the same.
      log[kind === 'item' ? 'warn' : 'error']({ kind, id, user }, 'upstream gave one id to two users')
      if (kind === 'item') continue
      refusal = new UpstreamInvalidError('an id that another user was given')
      throw refusal
    }
    for (const { kind, id } of fresh) known.add(`${kind} ${id}`)
    pending ??= objects.find(({ dueAt }) => dueAt !== undefined)
  }

  const frames = (reader: FrameReader): FrameReader => {
    let items: readonly Named[] = []
    let cut: Promise<void> | undefined
    const keepItems = () => {
      cut ??= keep(items)
      return cut
    }
    const look = async (named: readonly Members[]): Promise<void> => {
      for (const { type, response, item } of named) {
        if (type === itemDone && items.length < maxItems) items = [...items, ...namedIn({ output: [item] }, options)]
        else await keep(namedIn(response, options))
      }
    }
    const seen = (frames: readonly Frame[] | undefined) => {
      if (!frames) return keepItems().then(() => undefined)
      const named: Members[] = []
      for (const { event } of frames) {
        if (!event) continue
        const said = membersOf(jsonOf(event))
        if (said.type === itemDone || isObject(said.response)) named.push(said)
      }
      return named.length === 0 ? frames : look(named).then(() => frames)
    }
    const broken = (error: unknown) =>
      keepItems().then(() => {
        throw error
      })
    return {
      next: () => reader.next().then(seen, broken),
      cancel(reason) {
        // Nobody waits for it any more.
        keepItems().catch(() => {})
        return reader.cancel(reason)
      },
    }
  }

  return {
    response: (response) => keep(namedIn(response, options)),
    frames,
    get pending() {
      return pending
    },
    get refusal() {
      return refusal
    },
  }
}

interface Named {
  readonly kind: ObjectKind
  readonly id: string
}

/** As many items as an answer may have. */
const maxItems = 1024

/** What a response names. An id that is none in the gateway's sense can be used by nobody, so it need not be known. */
const namedIn = (response: unknown, { stores, conversations }: IssuedObjectsOptions): readonly Named[] => {
  const { id, conversation, output } = membersOf(response)
  const items = (Array.isArray(output) ? output.slice(0, maxItems) : []).filter(
    (item) => stores || isReference(toJson(item ?? null)),
  )
  const given: readonly (readonly [ObjectKind, unknown])[] = [
    ...(stores ? [['response', id] as const] : []),
    ...(conversations
      ? [['conversation', typeof conversation === 'string' ? conversation : membersOf(conversation).id] as const]
      : []),
    ...items.map((item) => ['item', membersOf(item).id] as const),
  ]
  const named = given.flatMap(([kind, text]): Named[] => {
    const readable = readId(text)
    return readable === undefined ? [] : [{ kind, id: readable }]
  })
  return [...new Map(named.map((each) => [`${each.kind} ${each.id}`, each])).values()]
}

const itemDone = 'response.output_item.done'

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

const membersOf = (value: unknown): Members => (isObject(value) ? value : {})
