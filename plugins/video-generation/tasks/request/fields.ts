import type { PersonAsset } from '../../../shared/consent/store.ts'
import type { JsonObject } from '../../../shared/json/parsed.ts'

/** The fields that the gateway owns, as the caller has sent them. */
export interface OwnFields {
  readonly priority?: number
  /** Seconds. */
  readonly execution_expires_after?: number
  readonly callback_url?: string
  readonly safety_identifier?: string
}

/** What `VideoTask.fields` holds, as JSON. */
export interface TaskFields {
  readonly own: OwnFields
  /** Fields of the request that a task object repeats. */
  readonly shown: JsonObject
  /** The upstream's id of the draft that the request names. */
  readonly draftUpstreamId?: string
  /** What the API that created the task keeps with it. */
  readonly notes?: JsonObject
  /** The account of the asset library and of the video upstream. Undefined: the first, or the only one. */
  readonly account?: string
  /** Groups of other users in which assets of the request are, by id. They must still be lent when it is sent. */
  readonly lentGroups?: readonly string[]
  /** Assets of persons that the request shows, also through its draft. They must still consent when it is sent. */
  readonly persons?: readonly PersonAsset[]
  /** Of a task with `references: "auto"`. */
  readonly registration?: Registration
  /** Assets that must get to the upstream before the task is sent. */
  readonly awaited?: readonly string[]
}

/** The pictures of a task that the upstream has refused for a person, and that become assets. */
export interface Registration {
  readonly pictures: readonly RefusedPicture[]
  /** The last refusal. Undefined: there was none. */
  readonly refusal?: {
    readonly code: string
    readonly message: string
    /** Milliseconds since 1970. */
    readonly at: number
  }
}

export interface RefusedPicture {
  /** Its index in `content`. */
  readonly index: number
  /** Undefined: it is not known yet. */
  readonly asset?: string
  /** When the asset was first known: milliseconds since 1970. */
  readonly since?: number
}

/** The vendor's `execution_expires_after` of a request that names none, in seconds. */
export const defaultExpirySeconds = 172_800

/** The vendor's bounds of `execution_expires_after`. */
export const expiryBounds = { min: 3_600, max: 259_200 } as const

export const readTaskFields = (text: string): TaskFields => JSON.parse(text) as TaskFields
