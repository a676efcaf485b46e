import type { Disconnection } from '../shared/http/disconnection.ts'
import type { Operation, VerificationKind } from './library/operation.ts'
import type { QueueTime } from './rate-limit/queue-time.ts'
import type { UpstreamResponse } from './response.ts'

/** A call that has ended. */
export interface UpstreamCall {
  readonly action: Operation['action']
  /** 0 if there was no response. */
  readonly status: number
  readonly seconds: number
  /** Undefined: there is one account, without a name. */
  readonly account?: string
}

/** The caller of an operation. */
export interface Caller {
  /** The user in the fair queue. All callers without a user count as one user. */
  readonly user?: string
  /** Request headers. The client forwards only permitted ones. */
  readonly headers?: Headers
  /** Aborts when the caller disconnects, and then aborts the call. */
  readonly signal?: AbortSignal
  /** The same, of a server that tells it without a signal, which costs more. Default: `signal`. */
  readonly disconnection?: Disconnection
  /** The queue time of the request, which limits the total wait of its calls. Without it each call has its own. */
  readonly queueTime?: QueueTime
}

/** The client of an asset library. */
export interface Upstream {
  /** How the upstream verifies faces: that of its kind. */
  readonly faceVerification: VerificationKind
  /** The accounts behind it. Undefined: one, without a name. */
  readonly accounts?: UpstreamAccounts
  /**
   * Sends an operation. Resolves with a success: status 2xx and a JSON object, or an empty body after an update or
   * deletion.
   *
   * Throws UpstreamRejectedError for a status from 400, UpstreamUnreachableError without a complete response,
   * UpstreamInvalidError for an invalid response, and UpstreamBusyError if the rate limits gave the call no slot.
   * Throws TypeError before a call for an operation that its type does not permit: for example without groups, or with
   * an id that no check has proved.
   */
  send(operation: Operation, caller?: Caller): Promise<UpstreamResponse>
}

/** The accounts of an upstream that has several. */
export interface UpstreamAccounts {
  /** Their names. The first has what was made before there were several. */
  readonly names: readonly [string, ...string[]]
  /** Milliseconds until a call of an action to an account can start, as far as this process knows. */
  waitMs(account: string, action: Operation['action']): number
}

/** The client of one account. */
export interface AccountClient extends Upstream {
  waitMs(action: Operation['action']): number
}
