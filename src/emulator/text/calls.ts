import type { Account } from '../account.ts'
import type { OpenCall } from '../calls.ts'
import type { Strike } from '../fault-registry.ts'
import type { Received } from '../shape.ts'
import { faultySteps } from './fault-steps.ts'
import { play, type Stage } from './playback.ts'
import { createService, type Manner } from './service.ts'

/** What a text call needs to be answered. */
export interface TextCall extends Pick<Stage, 'incoming' | 'response' | 'ending'> {
  readonly request: Received
  readonly call: OpenCall
  readonly number: number
  readonly strikes: readonly Strike[]
  /** aborted when the caller has left or the emulator stops */
  readonly signal: AbortSignal
}

/** Answers text calls. */
export function textAnswers({ settings, objects }: Account) {
  const perform = createService(settings, objects)
  const { key, msPerDelta, sleep } = settings.text
  return ({ request, call, number, strikes, ...stage }: TextCall): Promise<void> => {
    const work = perform(request, { number, at: call.at }, mannerOf(strikes))
    const begin = (status: number) => {
      call.status = status
    }
    return play(faultySteps(work, strikes, call, key), { ...stage, msPerDelta, sleep, begin })
  }
}

/** What some faults want of the work itself, since it cannot be made of its outcome. */
function mannerOf(strikes: readonly Strike[]): Manner {
  const struck = (kind: string) => strikes.filter(({ fault }) => fault.kind === kind).map(({ hit }) => hit()).length > 0
  const json = struck('json-to-stream')
  const stream = struck('sse-to-plain')
  return { ...(json || stream ? { streams: stream } : {}), counting: struck('usage-on-every-chunk') }
}
