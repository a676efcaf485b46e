import type { Call } from '../../calls.ts'
import type { AppliedFault } from '../../faults/registry.ts'
import { bytesOf, type Step, type Steps } from '../output/steps.ts'
import type { ScriptChunk } from './faults.ts'

const eventStreamHeaders = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Replaces a response by its script. Faults of other kinds leave it unchanged. */
export function* scripted(steps: Steps, { fault, hit }: AppliedFault, call: Call): Steps {
  if (fault.kind !== 'script') return yield* steps
  hit()
  const {
    status = 200,
    headers = eventStreamHeaders,
    chunks = [],
    end = 'close',
  } = typeof fault.script === 'function' ? fault.script(call) : fault.script
  yield { do: 'head', status, headers }
  for (const chunk of chunks) yield stepOf(chunk)
  if (end !== 'close') yield { do: 'end', how: end }
}

const stepOf = (chunk: ScriptChunk): Step => {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return bytesOf(chunk)
  const { wait } = chunk
  return typeof wait === 'number' ? { do: 'sleep', ms: wait } : { do: 'wait', until: () => wait }
}
