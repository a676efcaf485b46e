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
  readonly backgroundResponse: TextObject | undefined
  /** Why nothing of the answer may be given to its caller: what it names could not be recorded (500), or is somebody else's (502). */
  readonly problem: Problem | undefined
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
const firstCheckMs = 30_000

export const createIssuedObjects = (options: IssuedObjectsOptions): IssuedObjects => {
  const { store, background, keptMs, now, log } = options
  const { user, token, upstream, model } = options.record
  const recordedKeys = new Set(options.own && [`response ${options.own.id}`])
  let pending: TextObject | undefined
  let problem: Problem | undefined

  const recordOf = ({ kind, id }: Reference): TextObject => {
    const createdAt = now()
    const dueAt = background && kind === 'response' ? createdAt + firstCheckMs : undefined
    return { kind, id, user, token, upstream, model, createdAt, expiresAt: createdAt + keptMs, dueAt }
  }

  const record = async (references: readonly Reference[]): Promise<void> => {
    const unrecorded = references.filter(({ kind, id }) => !recordedKeys.has(`${kind} ${id}`))
    if (unrecorded.length === 0) return
    const objects = unrecorded.map(recordOf)
    const foreign = await store.recordTextObjects(objects).catch((cause: unknown) => {
      problem = new Problem(500, 'response could not be recorded', { cause })
      throw problem
    })
    for (const { kind, id } of foreign) {
      // An item that stays another's is one that this user cannot refer to; its text is in the answer all the same.
      log[kind === 'item' ? 'warn' : 'error']({ kind, id, user }, 'upstream gave one id to two users')
      if (kind === 'item') continue
      problem = new UpstreamInvalidError('an id that another user was given')
      throw problem
    }
    for (const { kind, id } of unrecorded) recordedKeys.add(`${kind} ${id}`)
    pending ??= objects.find(({ dueAt }) => dueAt !== undefined)
  }

  const frames = (reader: FrameReader): FrameReader => {
    let items: readonly Reference[] = []
    let itemsRecorded: Promise<void> | undefined
    const recordItems = () => {
      itemsRecorded ??= record(items)
      return itemsRecorded
    }
    const recordEvents = async (events: readonly Members[]): Promise<void> => {
      for (const { type, response, item } of events) {
        if (type === itemDone && items.length < maxItems)
          items = [...items, ...referencesIn({ output: [item] }, options)]
        else await record(referencesIn(response, options))
      }
    }
    const onFrames = (frames: readonly Frame[] | undefined) => {
      if (!frames) return recordItems().then(() => undefined)
      const events: Members[] = []
      for (const { event } of frames) {
        if (!event) continue
        const members = membersOf(jsonOf(event))
        if (members.type === itemDone || isObject(members.response)) events.push(members)
      }
      return events.length === 0 ? frames : recordEvents(events).then(() => frames)
    }
    const onError = (error: unknown) =>
      recordItems().then(() => {
        throw error
      })
    return {
      next: () => reader.next().then(onFrames, onError),
      cancel(reason) {
        // Nobody waits for it any more.
        recordItems().catch(() => {})
        return reader.cancel(reason)
      },
    }
  }

  return {
    response: (response) => record(referencesIn(response, options)),
    frames,
    get backgroundResponse() {
      return pending
    },
    get problem() {
      return problem
    },
  }
}

interface Reference {
  readonly kind: ObjectKind
  readonly id: string
}

/** As many items as an answer may have. */
const maxItems = 1024

/** What a response names. An id that is none in the gateway's sense can be used by nobody, so it need not be known. */
const referencesIn = (response: unknown, { stores, conversations }: IssuedObjectsOptions): readonly Reference[] => {
  const { id, conversation, output } = membersOf(response)
  const items = (Array.isArray(output) ? output.slice(0, maxItems) : []).filter(
    (item) => stores || isReference(toJson(item ?? null)),
  )
  const candidates: readonly (readonly [ObjectKind, unknown])[] = [
    ...(stores ? [['response', id] as const] : []),
    ...(conversations
      ? [['conversation', typeof conversation === 'string' ? conversation : membersOf(conversation).id] as const]
      : []),
    ...items.map((item) => ['item', membersOf(item).id] as const),
  ]
  const references = candidates.flatMap(([kind, text]): Reference[] => {
    const validId = readId(text)
    return validId === undefined ? [] : [{ kind, id: validId }]
  })
  return [...new Map(references.map((each) => [`${each.kind} ${each.id}`, each])).values()]
}

const itemDone = 'response.output_item.done'

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

const membersOf = (value: unknown): Members => (isObject(value) ? value : {})
