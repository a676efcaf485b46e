import { accessDenied } from '../../shared/audit.ts'
import { type Awaitable, andThen } from '../../shared/awaitable.ts'
import { runInTurns, runSteps } from '../../shared/background/turns.ts'
import type { Clock } from '../../shared/clock.ts'
import { readId } from '../../shared/id.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import type { AssetOwners } from '../../shared/media/asset-ownership.ts'
import type { OwnedId } from '../../shared/owned-id.ts'
import type { Log } from '../../shared/problem.ts'
import type { ModelRoute } from '../models/routing.ts'
import { TextProblem } from '../protocol/problem.ts'
import { shortStringOf } from '../protocol/validation.ts'
import { foldFieldName, itemReference } from './id-fields.ts'
import { createIssuedObjects, type IssuedObjects, type IssuedObjectsOptions } from './issued.ts'
import { type ReferencedObject, requireConsents } from './persons.ts'
import { findReferences, type ObjectReference, objectReferences } from './references.ts'
import { notRecorded } from './room.ts'
import type { ObjectKind, TextObject, TextObjectStore } from './store.ts'

/** A response that belongs to the caller. */
export type OwnedResponse = TextObject & OwnedId<'response'>

declare const proof: unique symbol

/**
 * A request with only the caller's own objects, and those that the operator allows to all users. Only `check` creates
 * this type.
 */
export type OwnedRequest = Json & { readonly [proof]: 'cleared' }

/** A request that has been checked. */
export interface CheckedRequest {
  readonly request: OwnedRequest
  /** The caller's objects that it refers to. */
  readonly referenced: readonly ReferencedObject[]
}

export interface ObjectOwnershipOptions {
  /** Undefined: no object has an owner. */
  readonly store: TextObjectStore | undefined
  /** Milliseconds for which an upstream keeps objects. */
  readonly ttlMs: number
  /** Id fields that every user may use. */
  readonly allowedFields: readonly string[]
  /** Whether the persons consent whom a referenced object shows. Default: nobody can withdraw a consent. */
  readonly assets?: Pick<AssetOwners, 'areConsented'> | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** The user of a request, and its upstream. */
export interface ObjectCheck {
  readonly user: string
  readonly route: ModelRoute
  /**
   * Whether the request is bridged. The bridge sends the content of items without their ids, and rejects items without
   * content.
   */
  readonly bridged: boolean
}

/** Each object may cost one query. */
const maxObjects = 1000

/**
 * Creates the ownership checks for objects of the upstream account. No other function creates an `OwnedResponse` from
 * an id.
 */
export const createObjectOwnership = ({ store, ttlMs, allowedFields, assets, clock, log }: ObjectOwnershipOptions) => {
  const allowed = new Set(allowedFields.map(foldFieldName))

  const find = async (user: string, kind: ObjectKind, id: string | undefined): Promise<TextObject | undefined> => {
    if (id === undefined || !store) return undefined
    return store.findTextObject(user, kind, id, clock.now()).catch((cause: unknown) => {
      throw new TextProblem(500, 'ownership could not be checked', { cause })
    })
  }

  const requireOwn = async (reference: ObjectReference, { user, route }: ObjectCheck): Promise<ReferencedObject> => {
    const { kind, id, param } = reference
    if (kind !== 'response' && kind !== 'conversation' && kind !== 'item') throw ownerUnknown(reference)
    if (!id.isString) throw new TextProblem(400, `${param} must be a string`, { param })
    const text = shortStringOf(id) ?? ''
    const object = await find(user, kind, readId(text))
    if (!object) throw objectNotFound(kind, text, param)
    if (object.upstream !== route.upstream.url) throw new OtherUpstreamProblem(param, object)
    return { object, param }
  }

  const requireAllOwn = async (
    references: readonly ObjectReference[],
    check: ObjectCheck,
  ): Promise<readonly ReferencedObject[]> => {
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
    const owned: ReferencedObject[] = []
    // 16 queries at a time. The error is that of the first failing object in the request, whichever query ends first.
    for (let start = 0; start < all.length; start += 16) {
      const results = await Promise.allSettled(
        all.slice(start, start + 16).map((reference) => requireOwn(reference, check)),
      )
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason
        owned.push(result.value)
      }
    }
    await requireConsents(owned, assets)
    return owned
  }

  return {
    /**
     * Throws or rejects with TextProblem 400 or 404 for the first object that is not the user's, 403 for one that shows
     * a person who does not consent any more, 500 when the store fails.
     */
    check(request: Json, target: ObjectCheck): Awaitable<CheckedRequest> {
      const search = findReferences(request, maxObjects)
      const references = isLarge(request) ? runInTurns(search) : runSteps(search)
      return andThen(references, (all) =>
        all.length === 0
          ? { request: request as OwnedRequest, referenced: noObjects }
          : requireAllOwn(all, target).then((referenced) => ({ request: request as OwnedRequest, referenced })),
      )
    },

    /**
     * Records that the conversations among these objects show persons from now on. It precedes the call that shows
     * them: the upstream may keep its input also when the response is lost. Rejects with Problem 500.
     */
    async markPersons(referenced: readonly ReferencedObject[], persons: readonly string[]): Promise<void> {
      const now = clock.now()
      const marked = referenced.flatMap(({ object }) =>
        object.kind === 'conversation' && persons.some((person) => !object.persons?.includes(person))
          ? [{ ...object, persons, createdAt: now, expiresAt: now + ttlMs }]
          : [],
      )
      if (marked.length === 0) return
      await store?.recordTextObjects(marked).catch((cause: unknown) => {
        throw notRecorded(cause)
      })
    },

    /** Whether a request names any object, of the caller or of all. */
    namesObjects: (request: Json): boolean => objectReferences(request, 1).length > 0,

    /** Creates the recorder for one response. Undefined: there is no store. */
    issuedObjects(
      record: IssuedObjectsOptions['record'],
      options: Pick<IssuedObjectsOptions, 'stores' | 'background' | 'own'>,
    ): IssuedObjects | undefined {
      return (
        store &&
        createIssuedObjects({
          store,
          ttlMs,
          clock,
          log,
          record,
          ...options,
          recordsConversations: !allowed.has('conversation'),
        })
      )
    },

    /** Finds a response of the user. Throws TextProblem 404 for a foreign or unknown one, 500 when the store fails. */
    async response(user: string, id: unknown): Promise<OwnedResponse> {
      const object = await find(user, 'response', readId(id))
      if (object) return asOwnedResponse(object)
      const event = accessDenied('response', idForMessage(id))
      throw new TextProblem(404, `Response with id '${idForMessage(id)}' not found.`, { event })
    },

    /**
     * Records the items in a page of a response's input items, so that they are valid cursors. Throws TextProblem 500
     * when the store fails.
     */
    async recordCursors(own: OwnedResponse, items: readonly unknown[]): Promise<void> {
      const cursorKeys = items.slice(0, maxObjects).flatMap((item) => cursorKey(own, item) ?? [])
      const createdAt = clock.now()
      const records = [...new Set(cursorKeys)].map((id) => ({
        ...own,
        kind: 'item' as const,
        id,
        createdAt,
        ...{ dueAt: undefined, persons: undefined },
      }))
      await store?.recordTextObjects(records).catch((cause: unknown) => {
        throw new TextProblem(500, 'response could not be recorded', { cause })
      })
    },

    /** Throws TextProblem 404 for a cursor that no page of this response has shown. */
    async requireCursor(own: OwnedResponse, item: string, param: string): Promise<void> {
      if (!(await find(own.user, 'item', cursorKey(own, item)))) throw objectNotFound('item', item, param)
    },
  }
}

const noObjects: readonly ReferencedObject[] = []

/**
 * The key of an item as a cursor: the response id, a space and the item id. Ids contain no spaces, so it never equals
 * an item id.
 *
 * The sender of an input item chooses its id, which may equal the id of another user's item. Therefore a page makes the
 * caller no owner of the items in it.
 */
const cursorKey = ({ id }: OwnedResponse, item: unknown): string | undefined => {
  const itemId = readId(item)
  return itemId && `${id} ${itemId}`
}

export type ObjectOwnership = ReturnType<typeof createObjectOwnership>

/** Marks a record from the store as its owner's response; also used when the gateway polls on the owner's behalf. */
export const asOwnedResponse = (object: TextObject): OwnedResponse => object as OwnedResponse

/** The protocol's own message. It is the same for a foreign id, an unknown id and an invalid id. */
export const objectNotFound = (kind: ObjectKind, id: string, param: string): TextProblem => {
  const event = accessDenied(kind, id)
  if (kind === 'response') {
    const message = `Previous response with id '${idForMessage(id)}' not found.`
    return new TextProblem(400, message, { param, code: 'previous_response_not_found', event })
  }
  const name = kind === 'item' ? 'Item' : 'Conversation'
  return new TextProblem(404, `${name} with id '${idForMessage(id)}' not found.`, { param, event })
}

const ownerUnknown = ({ kind, id, param }: ObjectReference): TextProblem =>
  new TextProblem(400, `${param} names a ${kind}, and the gateway cannot check its owner`, {
    param,
    code: 'unsupported_parameter',
    event: accessDenied(kind, shortStringOf(id)),
  })

/** Longer JSON source is no id. Such values are distinguished by their path. */
const maxIdBytes = 4_096

/** Limits the length of an id in an error message. */
const idForMessage = (id: unknown): string => String(id).slice(0, 256).toWellFormed()

/** A request names an object that another upstream keeps. */
export class OtherUpstreamProblem extends TextProblem {
  /** URL of the upstream that keeps it. */
  readonly upstream: string

  constructor(param: string, { model, upstream }: { readonly model: string; readonly upstream: string }) {
    super(400, `${param} was created by the model ${model}, which another upstream serves`, { param })
    this.upstream = upstream
  }
}
