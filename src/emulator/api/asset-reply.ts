import type { Account } from '../account.ts'
import type { ReceivedRequest } from '../action.ts'
import { faultyResult, jsonReply, type Reply } from '../faults/faulty-reply.ts'
import type { AppliedFault } from '../faults/registry.ts'
import { runAction } from './actions.ts'
import { ArkError } from './ark-error.ts'
import type { AssetApi } from './asset-api.ts'
import { envelopeOf } from './envelope.ts'

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
