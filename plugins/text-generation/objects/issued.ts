import type { Awaitable } from '../../shared/awaitable.ts'
import type { Clock } from '../../shared/clock.ts'
import { readId } from '../../shared/id.ts'
import { toJson } from '../../shared/json/json.ts'
import { isJsonObject, type JsonObject, membersOf } from '../../shared/json/parsed.ts'
import type { Log, Problem } from '../../shared/problem.ts'
import { UpstreamInvalidError } from '../../shared/upstream/upstream-error.ts'
import type { Frame, FrameReader } from '../../sse-relay/index.ts'
import { jsonOf } from '../events/event.ts'
import { isItemReference } from './references.ts'
import { notRecorded, requireRoom } from './room.ts'
import type { ObjectKind, TextObject, TextObjectStore } from './store.ts'

/** Records the objects in a response as the caller's before the caller receives their ids. */
export interface IssuedObjects {
  /** Rejects while the objects of a response could not be recorded, because the store has no room. */
  requireRoom(): Awaitable<void>
  /** Records the objects in a complete response. Rejects with `problem`. */
  recordResponse(response: unknown): Promise<void>
  /**
   * Wraps a frame reader: returns each frame when the objects in it are recorded.
   *
   * `next` rejects with `problem`. If the stream ends early, the items that are complete by then are recorded too.
   */
  wrapReader(reader: FrameReader): FrameReader
  /** The background response, when its id is recorded. */
  readonly backgroundResponse: TextObject | undefined
  /**
   * Why the caller must not receive the response: its objects could not be recorded (500), or belong to another user
   * (502).
   */
  readonly problem: Problem | undefined
}

export interface IssuedObjectsOptions {
  readonly store: TextObjectStore
  /** Fields of every record. */
  readonly record: Pick<TextObject, 'user' | 'token' | 'upstream' | 'model' | 'persons'>
  /** Whether the upstream stores the response. If not, only the items that the upstream looks up by id are recorded. */
  readonly stores: boolean
  /** Whether it is a background response. */
  readonly background: boolean
  /** Whether conversations have owners. False when the operator allows all of them to every user. */
  readonly recordsConversations: boolean
  /** A response that is already recorded as the user's. */
  readonly own?: TextObject
  /** Milliseconds for which the upstream keeps objects. */
  readonly ttlMs: number
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Milliseconds until the first poll of a background response. */
const firstCheckMs = 30_000

export const createIssuedObjects = (options: IssuedObjectsOptions): IssuedObjects => {
  const { store, background, ttlMs, clock, log } = options
  const { user, token, upstream, model, persons } = options.record
  const recordedKeys = new Set(options.own && [`response ${options.own.id}`])
  let pending: TextObject | undefined
  let problem: Problem | undefined

  const recordOf = ({ kind, id }: Reference): TextObject => {
    const createdAt = clock.now()
    const dueAt = background && kind === 'response' ? createdAt + firstCheckMs : undefined
    return { kind, id, user, token, upstream, model, persons, createdAt, expiresAt: createdAt + ttlMs, dueAt }
  }

  const record = async (references: readonly Reference[]): Promise<void> => {
    const unrecorded = references.filter(({ kind, id }) => !recordedKeys.has(`${kind} ${id}`))
    if (unrecorded.length === 0) return
    const objects = unrecorded.map(recordOf)
    const foreign = await store.recordTextObjects(objects).catch((cause: unknown) => {
      problem = notRecorded(cause)
      throw problem
    })
    for (const { kind, id } of foreign) {
      // The user cannot reference this item by its id, but its content is in the response.
      log[kind === 'item' ? 'warn' : 'error'](
        { kind, id, user },
        'upstream returned an id that belongs to another user',
      )
      if (kind === 'item') continue
      problem = new UpstreamInvalidError('the response contains an id that belongs to another user')
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
    const recordEvents = async (events: readonly JsonObject[]): Promise<void> => {
      for (const { type, response, item } of events) {
        if (type === itemDone && items.length < maxItems)
          items = [...items, ...referencesIn({ output: [item] }, options)]
        // The final event may be the last thing that is read.
        else await record([...referencesIn(response, options), ...items])
      }
    }
    const onFrames = (frames: readonly Frame[] | undefined) => {
      if (!frames) return recordItems().then(() => undefined)
      const events: JsonObject[] = []
      for (const { event } of frames) {
        if (!event) continue
        const members = membersOf(jsonOf(event))
        if (members.type === itemDone || isJsonObject(members.response)) events.push(members)
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
        // The client has disconnected, so the result has no reader.
        recordItems().catch(() => {})
        return reader.cancel(reason)
      },
    }
  }

  return {
    requireRoom: () => (options.stores ? requireRoom(store) : undefined),
    recordResponse: (response) => record(referencesIn(response, options)),
    wrapReader: frames,
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

/** Maximum number of items in a response. */
const maxItems = 1024

/** The objects in a response. Values that `readId` rejects are skipped: no request can use them. */
const referencesIn = (
  response: unknown,
  { stores, recordsConversations: conversations }: IssuedObjectsOptions,
): readonly Reference[] => {
  const { id, conversation, output } = membersOf(response)
  const items = (Array.isArray(output) ? output.slice(0, maxItems) : []).filter(
    (item) => stores || isItemReference(toJson(item ?? null)),
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
