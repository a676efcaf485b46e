import type { Account } from '../account.ts'
import type { OpenCall } from '../calls.ts'
import type { Strike } from '../fault-registry.ts'
import type { Received } from '../shape.ts'
import { faultySteps } from './fault-steps.ts'
import { play, type Stage } from './playback.ts'
import { createService, type Manner } from './service.ts'

/** A text generation request with everything needed for its response. */
export interface TextCall extends Pick<Stage, 'incoming' | 'response' | 'onClose'> {
  readonly request: Received
  readonly call: OpenCall
  readonly number: number
  readonly strikes: readonly Strike[]
  /** aborted when the caller has disconnected or the emulator stops */
  readonly signal: AbortSignal
}

/** Creates the function that responds to text generation requests. */
export function textAnswers({ settings, objects }: Account) {
  const perform = createService(settings, objects)
  const { key, msPerDelta, sleep } = settings.text
  return ({ request, call, number, strikes, ...stage }: TextCall): Promise<void> => {
    const work = perform(request, { number, at: call.at }, mannerOf(strikes))
    const onStatus = (status: number) => {
      call.status = status
    }
    return play(faultySteps(work, strikes, call, key), { ...stage, msPerDelta, sleep, onStatus })
  }
}

/** Faults that change how the response is generated. They cannot be applied to the finished response. */
function mannerOf(strikes: readonly Strike[]): Manner {
  const applies = (kind: string) =>
    strikes.filter(({ fault }) => fault.kind === kind).map(({ hit }) => hit()).length > 0
  const json = applies('json-to-stream')
  const stream = applies('sse-to-plain')
  return { ...(json || stream ? { streams: stream } : {}), usageOnEveryChunk: applies('usage-on-every-chunk') }
}
