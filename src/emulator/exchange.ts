import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from './account.ts'
import { perform } from './actions.ts'
import { ArkError } from './ark-error.ts'
import { envelopeOf } from './envelope.ts'
import type { AppliedFault } from './fault-registry.ts'
import type { FaultKind } from './faults.ts'
import { faultyAnswer, faultyReply, jsonReply, plannedReply, type Reply } from './faulty-reply.ts'
import type { ReceivedRequest, Shape } from './shape.ts'

/** The outcome of a request: a reply, a reset connection, or no response at all. */
export type End = Reply | 'reset' | 'silence'

/** One request with its number and the faults that apply to it. */
export interface Exchange {
  readonly account: Account
  readonly shape: Shape
  readonly request: ReceivedRequest
  readonly action: string
  readonly number: number
  readonly strikes: readonly AppliedFault[]
  /** aborted when the emulator stops; the request has no effect after that */
  readonly stopping: AbortSignal
}

/** Handles a request: first the faults before the action, then the action, then the faults after it. */
export async function endOf(exchange: Exchange): Promise<End> {
  const { strikes, stopping } = exchange
  let end: End | undefined
  for (const strike of strikes) {
    if (end === undefined && isEarly(strike.fault)) end = await applyEarlyFault(strike, stopping)
    if (stopping.aborted) return 'silence'
  }
  end ??= runAction(exchange)
  for (const strike of strikes) {
    if (typeof end !== 'string' && !isEarly(strike.fault)) end = await applyLateFault(strike, end, secretOf(exchange))
  }
  return end
}

/** Whether a fault takes effect before the action runs. */
function isEarly(fault: FaultKind): boolean {
  if (fault.kind === 'hang' || fault.kind === 'status') return !fault.work
  if (fault.kind === 'hold') return fault.when !== 'after'
  return fault.kind === 'refuse' || fault.kind === 'delay' || fault.kind === 'redirect'
}

async function applyEarlyFault(
  { fault, hit, released }: AppliedFault,
  stopping: AbortSignal,
): Promise<End | undefined> {
  hit()
  if (fault.kind === 'refuse') return 'reset'
  if (fault.kind === 'hang') return 'silence'
  if (fault.kind === 'hold') await released
  // a stop ends the delay early; `endOf` checks the signal
  if (fault.kind === 'delay') await sleep(fault.ms, undefined, { signal: stopping }).catch(() => undefined)
  return plannedReply(fault)
}

async function applyLateFault({ fault, hit, released }: AppliedFault, reply: Reply, secret: string): Promise<End> {
  hit()
  if (fault.kind === 'reset-after') return 'reset'
  if (fault.kind === 'hang') return 'silence'
  if (fault.kind === 'hold') await released
  return faultyReply(fault, reply, secret)
}

function secretOf({ account: { settings }, shape }: Exchange): string {
  return shape.kind === 'rest' ? settings.key : settings.secretKey
}

function runAction({ account, shape, request, action, number, strikes }: Exchange): Reply {
  const envelope = shape.wrapped(request, envelopeOf(action, number, account.settings))
  const headers = { 'x-request-id': envelope.requestId }
  try {
    const ask = shape.askOf(request)
    const faulty = strikes.reduce((result, { fault }) => faultyAnswer(fault, result, ask), perform(account, ask))
    return jsonReply(200, envelope.result(faulty), headers)
  } catch (error) {
    const refusal = error instanceof ArkError ? error : new ArkError(500, 'InternalError', String(error))
    return jsonReply(refusal.status, envelope.error(refusal), { ...headers, ...refusal.headers })
  }
}
