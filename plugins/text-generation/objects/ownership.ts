import { accessRefused } from '../../shared/audit.ts'
import type { Awaitable } from '../../shared/awaitable.ts'
import { readId } from '../../shared/id.ts'
import type { Json } from '../../shared/json.ts'
import type { OwnedId } from '../../shared/owned-id.ts'
import type { Log } from '../../shared/problem.ts'
import { TextProblem } from '../problem.ts'
import type { ModelRoute } from '../upstream/model-routing.ts'
import { wordOf } from '../validation.ts'
import { foldKey, itemReference } from './fields.ts'
import { createIssuedObjects, type IssuedObjects, type IssuedObjectsOptions } from './issued.ts'
import { type ObjectReference, objectReferences } from './references.ts'
import type { ObjectKind, TextObject, TextObjectStore } from './store.ts'

/** A response of the caller's. */
export type OwnResponse = TextObject & OwnedId<'response'>

declare const proof: unique symbol

/** A request that names no object of the account but its caller's own, and those that the operator has opened to everybody. Only `clear` makes them. */
export type CheckedRequest = Json & { readonly [proof]: 'cleared' }

export interface ObjectsOptions {
  /** Undefined: nobody owns anything. */
  readonly store: TextObjectStore | undefined
  /** How long an upstream keeps objects, in milliseconds. */
  readonly keptMs: number
  /** Fields that may name anybody's objects. */
  readonly allowedFields: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly log: Log
}

/** For whom a request is to be cleared, and where it goes. */
export interface ObjectCheck {
  readonly user: string
  readonly route: ModelRoute
  /** Whether items leave their ids behind: a bridge carries over what they say, and refuses those that say nothing. */
  readonly bridged: boolean
}

/** Each of them may cost a question about its owner. */
const maxObjects = 1000

/** Whose objects of the account are whose. Only here does one become owned. */
export const createObjectOwnership = ({ store, keptMs, allowedFields, now, log }: ObjectsOptions) => {
  const allowed = new Set(allowedFields.map(foldKey))

  const find = async (user: string, kind: ObjectKind, id: string | undefined): Promise<TextObject | undefined> => {
    if (id === undefined || !store) return undefined
    return store.textObject(user, kind, id, now()).catch((cause: unknown) => {
      throw new TextProblem(500, 'ownership could not be checked', { cause })
    })
  }

  const requireOwn = async (reference: ObjectReference, { user, route }: ObjectCheck): Promise<void> => {
    const { kind, id, param } = reference
    if (kind !== 'response' && kind !== 'conversation' && kind !== 'item') throw ownerUnknown(reference)
    if (!id.isString) throw new TextProblem(400, `${param} must be a string`, { param })
    const text = wordOf(id) ?? ''
    const object = await find(user, kind, readId(text))
    if (!object) throw notFound(kind, text, param)
    if (object.upstream !== route.upstream.url)
      throw new TextProblem(400, `${param} was made by the model ${object.model}, which another upstream serves`, {
        param,
      })
  }

  const requireAllOwn = async (references: readonly ObjectReference[], check: ObjectCheck): Promise<void> => {
    const param = references[maxObjects]?.param
    if (param !== undefined) throw new TextProblem(400, `request names more than ${maxObjects} objects`, { param })
    const distinct = new Map<string, ObjectReference>()
    for (const each of references) {
      if (each.fields.some((field) => allowed.has(field))) continue
      if (check.bridged && each.fields.includes(itemReference)) continue
      const { kind, id, param } = each
      const key = `${kind} ${id.byteLength <= maxIdBytes ? id.raw : param}`
      if (!distinct.has(key)) distinct.set(key, each)
    }
    const all = [...distinct.values()]
    // Some at a time. Whichever is answered first, the first that stands in the request is the one that is refused.
    for (let start = 0; start < all.length; start += 16) {
      const results = await Promise.allSettled(
        all.slice(start, start + 16).map((reference) => requireOwn(reference, check)),
      )
      for (const result of results) if (result.status === 'rejected') throw result.reason
    }
  }

  return {
    /** Throws, or rejects with, TextProblem 400 or 404 for the first object that is not the user's, 500 when the store cannot be asked. */
    check(request: Json, check: ObjectCheck): Awaitable<CheckedRequest> {
      const references = objectReferences(request, maxObjects)
      if (references.length === 0) return request as CheckedRequest
      return requireAllOwn(references, check).then(() => request as CheckedRequest)
    },

    /** For an answer that is about to be given to a caller. Undefined: there is nowhere to record what it names. */
    issue(
      record: IssuedObjectsOptions['record'],
      options: Pick<IssuedObjectsOptions, 'stores' | 'background' | 'own'>,
    ): IssuedObjects | undefined {
      return (
        store &&
        createIssuedObjects({
          store,
          keptMs,
          now,
          log,
          record,
          ...options,
          conversations: !allowed.has('conversation'),
        })
      )
    },

    /** Throws TextProblem 404 for a response that is not the user's, 500 when the store cannot be asked. */
    async response(user: string, id: unknown): Promise<OwnResponse> {
      const object = await find(user, 'response', readId(id))
      if (object) return asOwnResponse(object)
      const event = accessRefused('response', shownId(id))
      throw new TextProblem(404, `Response with id '${shownId(id)}' not found.`, { event })
    },

    /** Keeps which items a list of a response's own has shown, so that the list can go on behind them. Throws TextProblem 500 when it cannot. */
    async recordShown(own: OwnResponse, items: readonly unknown[]): Promise<void> {
      const shownKeys = items.slice(0, maxObjects).flatMap((item) => shownKey(own, item) ?? [])
      const createdAt = now()
      const records = [...new Set(shownKeys)].map((id) => ({
        ...own,
        kind: 'item' as const,
        id,
        createdAt,
        dueAt: undefined,
      }))
      await store?.recordTextObjects(records).catch((cause: unknown) => {
        throw new TextProblem(500, 'response could not be recorded', { cause })
      })
    },

    /** Throws TextProblem 404 for an item that no list of this response has shown. */
    async requireShown(own: OwnResponse, item: string, param: string): Promise<void> {
      if (!(await find(own.user, 'item', shownKey(own, item)))) throw notFound('item', item, param)
    },
  }
}

/**
 * What a place in the list of a response's items is recorded as: no item in the gateway's sense, since an id has no blank in it. Input items have the ids that
 * their sender gave them, which may be those of somebody else's items: being shown one makes nobody its owner.
 */
const shownKey = ({ id }: OwnResponse, item: unknown): string | undefined => {
  const itemId = readId(item)
  return itemId && `${id} ${itemId}`
}

export type ObjectOwnership = ReturnType<typeof createObjectOwnership>

/** Also for a response that is looked after on its owner's behalf. */
export const asOwnResponse = (object: TextObject): OwnResponse => object as OwnResponse

/** The protocol's own words. They are the same for what is somebody else's, what is nobody's, and what cannot be an id. */
const notFound = (kind: ObjectKind, id: string, param: string): TextProblem => {
  const event = accessRefused(kind, id)
  if (kind === 'response') {
    const message = `Previous response with id '${shownId(id)}' not found.`
    return new TextProblem(400, message, { param, code: 'previous_response_not_found', event })
  }
  const name = kind === 'item' ? 'Item' : 'Conversation'
  return new TextProblem(404, `${name} with id '${shownId(id)}' not found.`, { param, event })
}

const ownerUnknown = ({ kind, id, param }: ObjectReference): TextProblem =>
  new TextProblem(400, `${param} names a ${kind} of the account, and nobody here can tell whose it is`, {
    param,
    code: 'unsupported_parameter',
    event: accessRefused(kind, wordOf(id)),
  })

/** Longer ones, as JSON, are no ids: they are told apart by where they stand. */
const maxIdBytes = 4_096

/** An answer is no longer for an id that is. */
const shownId = (id: unknown): string => String(id).slice(0, 256).toWellFormed()
