import type { List } from './library/list-pages.ts'
import type { Member } from './shared/members.ts'

/** A request with its complete body. */
export interface ReceivedRequest {
  readonly method: string
  /** raw path and query, as sent */
  readonly target: string
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  readonly body: string
}

/** A request for one action, independent of the API (`rest` or `ark`) that received it. */
export interface ActionRequest {
  readonly action: string
  /** true for the `rest` API: it has no projects, and has defaults for parameters that `ark` requires */
  readonly isRest: boolean
  readonly project: string
  readonly members: readonly Member[]
}

/** The result of an action: the JSON text of `Result`, or a list. */
export type ActionResult = { readonly result: string } | { readonly list: List }
