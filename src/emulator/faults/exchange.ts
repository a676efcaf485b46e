import { setTimeout as sleep } from 'node:timers/promises'
import { isEarly } from './faults.ts'
import { faultyReply, fixedReply, type Reply, type ReplySource } from './faulty-reply.ts'
import type { AppliedFault } from './registry.ts'

/** The outcome of a request: a reply, a reset connection, or no response at all. */
export type ExchangeResult = Reply | 'reset' | 'no response'

/** One request and the faults that apply to it. */
export interface Exchange extends ReplySource {
  /** runs the action */
  readonly run: () => Reply
  readonly appliedFaults: readonly AppliedFault[]
  /** aborted when the emulator stops; the request has no effect after that */
  readonly stopping: AbortSignal
}

/** Handles a request: first the faults before the action, then the action, then the faults after it. */
export const handleExchange = async (exchange: Exchange): Promise<ExchangeResult> => {
  const { appliedFaults, stopping } = exchange
  let result: ExchangeResult | undefined
  for (const applied of appliedFaults) {
    if (result === undefined && isEarly(applied.fault)) result = await applyEarlyFault(applied, exchange)
    if (stopping.aborted) return 'no response'
  }
  result ??= exchange.run()
  for (const applied of appliedFaults) {
    if (typeof result !== 'string' && !isEarly(applied.fault)) result = await applyLateFault(applied, result, exchange)
  }
  return result
}

const applyEarlyFault = async (
  { fault, hit, released }: AppliedFault,
  { stopping, serverError }: Exchange,
): Promise<ExchangeResult | undefined> => {
  hit()
  if (fault.kind === 'reset-before') return 'reset'
  if (fault.kind === 'hang') return 'no response'
  if (fault.kind === 'hold') await released
  // a stop ends the delay early; `handleExchange` checks the signal
  if (fault.kind === 'delay') await sleep(fault.ms, undefined, { signal: stopping }).catch(() => undefined)
  return fixedReply(fault, serverError)
}

const applyLateFault = async (
  { fault, hit, released }: AppliedFault,
  reply: Reply,
  exchange: Exchange,
): Promise<ExchangeResult> => {
  hit()
  if (fault.kind === 'reset-after') return 'reset'
  if (fault.kind === 'hang') return 'no response'
  if (fault.kind === 'hold') await released
  return faultyReply(fault, reply, exchange)
}
