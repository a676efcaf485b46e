import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from './account.ts'
import { runAction } from './actions.ts'
import { ArkError } from './ark-error.ts'
import type { AssetApi, ReceivedRequest } from './asset-api.ts'
import { envelopeOf } from './envelope.ts'
import type { AppliedFault } from './fault-registry.ts'
import type { FaultKind } from './faults.ts'
import { faultyReply, faultyResult, fixedReply, jsonReply, type Reply } from './faulty-reply.ts'

/** The outcome of a request: a reply, a reset connection, or no response at all. */
export type ExchangeResult = Reply | 'reset' | 'no response'

/** One request with its number and the faults that apply to it. */
export interface Exchange {
  readonly account: Account
  readonly api: AssetApi
  readonly request: ReceivedRequest
  readonly action: string
  readonly number: number
  readonly appliedFaults: readonly AppliedFault[]
  /** aborted when the emulator stops; the request has no effect after that */
  readonly stopping: AbortSignal
}

/** Handles a request: first the faults before the action, then the action, then the faults after it. */
export const handleExchange = async (exchange: Exchange): Promise<ExchangeResult> => {
  const { appliedFaults, stopping } = exchange
  let result: ExchangeResult | undefined
  for (const applied of appliedFaults) {
    if (result === undefined && isEarly(applied.fault)) result = await applyEarlyFault(applied, stopping)
    if (stopping.aborted) return 'no response'
  }
  result ??= replyOf(exchange)
  for (const applied of appliedFaults) {
    if (typeof result !== 'string' && !isEarly(applied.fault))
      result = await applyLateFault(applied, result, exchange.api.secret)
  }
  return result
}

/** Whether a fault takes effect before the action runs. */
const isEarly = (fault: FaultKind): boolean => {
  if (fault.kind === 'hang' || fault.kind === 'status') return !fault.work
  if (fault.kind === 'hold') return fault.when !== 'after'
  return fault.kind === 'reset-before' || fault.kind === 'delay' || fault.kind === 'redirect'
}

const applyEarlyFault = async (
  { fault, hit, released }: AppliedFault,
  stopping: AbortSignal,
): Promise<ExchangeResult | undefined> => {
  hit()
  if (fault.kind === 'reset-before') return 'reset'
  if (fault.kind === 'hang') return 'no response'
  if (fault.kind === 'hold') await released
  // a stop ends the delay early; `handleExchange` checks the signal
  if (fault.kind === 'delay') await sleep(fault.ms, undefined, { signal: stopping }).catch(() => undefined)
  return fixedReply(fault)
}

const applyLateFault = async (
  { fault, hit, released }: AppliedFault,
  reply: Reply,
  secret: string,
): Promise<ExchangeResult> => {
  hit()
  if (fault.kind === 'reset-after') return 'reset'
  if (fault.kind === 'hang') return 'no response'
  if (fault.kind === 'hold') await released
  return faultyReply(fault, reply, secret)
}

const replyOf = ({ account, api, request, action, number, appliedFaults }: Exchange): Reply => {
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
