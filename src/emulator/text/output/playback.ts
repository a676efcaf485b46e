import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as realSleep } from 'node:timers/promises'
import type { Steps } from './steps.ts'

/** The connection on which the steps of a response are executed, and its timing. */
export interface PlaybackContext {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  /** aborted when the caller has disconnected or the emulator stops; no step runs after that */
  readonly signal: AbortSignal
  /** ms for each delta */
  readonly msPerDelta: number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** called with the status when it is sent */
  onStatus(status: number): void
  /** called when from here on the emulator itself closes the connection */
  onClose(): void
}

/**
 * Delays in ms before the connection is closed, so that a reset does not overtake the data sent before. There are
 * several, because after the first one a reader in this process may not have had its turn, if the process was busy.
 */
const closeDelaysMs = [15, 15, 15]

/** Executes the steps with backpressure. Resolves after the last step. */
export const play = async (steps: Steps, stage: PlaybackContext): Promise<void> => {
  const { incoming, response, signal, sleep } = stage
  const slept = (ms: number) => untilDoneOrAborted(signal, (done) => void sleep(ms, signal).then(done, done))
  let sent = false
  if (signal.aborted) return
  for (const step of steps) {
    if (step.do === 'head') {
      stage.onStatus(step.status)
      response.statusCode = step.status
      for (const [name, value] of Object.entries(step.headers)) response.setHeader(name, value)
      response.flushHeaders()
    } else if (step.do === 'event') {
      throw new Error('events must be encoded before they are sent')
    } else if (step.do === 'bytes') {
      if (step.bytes.length === 0) continue
      sent = true
      if (!response.write(step.bytes)) await untilDoneOrAborted(signal, (done) => response.once('drain', done))
    } else if (step.do === 'pause') {
      if (stage.msPerDelta > 0) await slept(step.deltas * stage.msPerDelta)
    } else if (step.do === 'sleep') {
      await slept(step.ms)
    } else if (step.do === 'wait') {
      await untilDoneOrAborted(signal, (done) => void step.until().then(done, done))
    } else {
      // real time, independent of `sleep`
      for (const ms of sent ? closeDelaysMs : []) await realSleep(ms, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      stage.onClose()
      if (step.how === 'reset') incoming.socket.resetAndDestroy()
      else incoming.socket.end()
      return
    }
    if (signal.aborted) return
  }
  response.once('finish', stage.onClose)
  response.end()
}

/** Waits for an operation or for the signal, whichever comes first. */
const untilDoneOrAborted = (signal: AbortSignal, begin: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', done)
    begin(done)
  })
