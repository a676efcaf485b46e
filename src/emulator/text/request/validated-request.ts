import type { Json } from '../../shared/reader.ts'
import type { Prompt } from '../generation/prompt.ts'
import type { Item } from '../objects/items.ts'
import type { Sealing } from '../objects/sealing.ts'

/** A validated Responses request. */
export interface ResponsesRequest {
  readonly raw: Json
  readonly prompt: Prompt
  /** the items before its input */
  readonly earlier: readonly Item[]
  readonly input: readonly Item[]
  /** id of its conversation */
  readonly conversation: string | undefined
  readonly streams: boolean
  readonly background: boolean
  readonly obfuscates: boolean
  readonly tier: string
  readonly stores: boolean
  /** the `include` parameter: additional output data */
  readonly include: readonly string[]
  /** whether it asks for a compaction of its items in place of a response */
  readonly compacts: boolean
  readonly sealing: Sealing
}
