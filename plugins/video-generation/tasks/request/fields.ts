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
}

/** The vendor's `execution_expires_after` of a request that names none, in seconds. */
export const defaultExpirySeconds = 172_800

/** The vendor's bounds of `execution_expires_after`. */
export const expiryBounds = { min: 3_600, max: 259_200 } as const

export const readTaskFields = (text: string): TaskFields => JSON.parse(text) as TaskFields
