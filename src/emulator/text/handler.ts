import type { Account } from '../account.ts'
import type { ReceivedRequest } from '../action.ts'
import type { OpenCall } from '../calls.ts'
import type { AppliedFault } from '../faults/registry.ts'
import { faultySteps } from './faults/fault-steps.ts'
import { type PlaybackContext, play } from './output/playback.ts'
import { createService, type GenerationOverrides } from './service.ts'

/** A text generation request with everything needed for its response. */
export interface TextCall extends Pick<PlaybackContext, 'incoming' | 'response' | 'onClose'> {
  readonly request: ReceivedRequest
  readonly call: OpenCall
  readonly number: number
  readonly appliedFaults: readonly AppliedFault[]
  /** aborted when the caller has disconnected or the emulator stops */
  readonly signal: AbortSignal
}

/** Creates the function that responds to text generation requests. */
export const createTextHandler = (account: Account) => {
  const perform = createService(account)
  const { key, msPerDelta, sleep } = account.settings.text
  return ({ request, call, number, appliedFaults, ...stage }: TextCall): Promise<void> => {
    const work = perform(request, { number, at: call.at }, overridesOf(appliedFaults))
    const onStatus = (status: number) => {
      call.status = status
    }
    return play(faultySteps(work, appliedFaults, call, key), { ...stage, msPerDelta, sleep, onStatus })
  }
}

/** Faults that change how the response is generated. They cannot be applied to the finished response. */
const overridesOf = (appliedFaults: readonly AppliedFault[]): GenerationOverrides => {
  const applies = (kind: string) =>
    appliedFaults.filter(({ fault }) => fault.kind === kind).map(({ hit }) => hit()).length > 0
  const json = applies('json-to-stream')
  const stream = applies('stream-to-json')
  return { ...(json || stream ? { streams: stream } : {}), usageOnEveryChunk: applies('usage-on-every-chunk') }
}
