import type { Account } from '../account.ts'
import type { ActionRequest, ReceivedRequest } from '../action.ts'
import type { Call } from '../calls.ts'
import { faultyResult, jsonReply, type Reply } from '../faults/faulty-reply.ts'
import type { AppliedFault } from '../faults/registry.ts'
import { type Member, membersOf } from '../shared/members.ts'
import { runAction } from './actions.ts'
import { ArkError } from './ark-error.ts'
import { type Envelope, envelopeOf } from './envelope.ts'

/** One of the two asset APIs of the account. */
export interface AssetApi {
  readonly name: Exclude<Call['api'], 'text' | 'video'>
  /** the credential that a `leak` fault puts into a response */
  readonly secret: string
  /** name of the requested action, before authentication; empty when no action matches */
  actionOf(request: ReceivedRequest): string
  /** authenticates and parses the request; throws a `ArkError` when that fails */
  parseRequest(request: ReceivedRequest): ActionRequest
  /** the response envelope of this API and action; `envelope` is Ark's usual one */
  envelopeFor(request: ReceivedRequest, envelope: Envelope): Envelope
}

/**
 * The members of a JSON body. An empty body counts as an empty object. Throws 400 `InvalidParameter` for any other
 * body.
 */
export const bodyMembers = ({ body, bytes }: ReceivedRequest): Member[] => {
  if (body.trim() === '') return []
  const members = isUtf8(bytes) ? membersOf(body) : undefined
  if (members === undefined) throw new ArkError(400, 'InvalidParameter', 'The body must be a JSON object in UTF-8.')
  return members
}

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** A request to one of the two asset APIs. */
export interface AssetCall {
  readonly account: Account
  readonly api: AssetApi
  readonly request: ReceivedRequest
  readonly action: string
  readonly number: number
  readonly appliedFaults: readonly AppliedFault[]
}

/** Runs the action of a request and returns the reply. */
export const assetReply = ({ account, api, request, action, number, appliedFaults }: AssetCall): Reply => {
  const envelope = api.envelopeFor(request, envelopeOf(action, number, account.settings))
  const headers = { 'x-request-id': envelope.requestId }
  try {
    const actionRequest = api.parseRequest(request)
    const faulty = appliedFaults.reduce(
      (result, { fault }) => faultyResult(fault, result, actionRequest),
      runAction(account, actionRequest),
    )
    return jsonReply(200, envelope.result(faulty), headers)
  } catch (error) {
    const arkError = error instanceof ArkError ? error : new ArkError(500, 'InternalError', String(error))
    return jsonReply(arkError.status, envelope.error(arkError), { ...headers, ...arkError.headers })
  }
}
