import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as settling } from 'node:timers/promises'
import type { Steps } from './steps.ts'

/** Where steps are played. */
export interface Stage {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  /** aborted when the caller has left or the emulator stops; nothing is done after that */
  readonly signal: AbortSignal
  /** ms of one delta */
  readonly msPerDelta: number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** told of the status when it is sent */
  begin(status: number): void
  /** told when a close is the emulator's own doing from here on */
  ending(): void
}

/** Ms after which what was sent has arrived, so that a reset does not overtake it. */
const SETTLE_MS = 20

/** Does what the steps say, no faster than the caller reads. Resolves when there is nothing left to do. */
export async function play(steps: Steps, stage: Stage): Promise<void> {
  const { incoming, response, signal, sleep } = stage
  const slept = (ms: number) => either(signal, (done) => void sleep(ms, signal).then(done, done))
  let sent = false
  if (signal.aborted) return
  for (const step of steps) {
    if (step.do === 'head') {
      stage.begin(step.status)
      response.statusCode = step.status
      for (const [name, value] of Object.entries(step.headers)) response.setHeader(name, value)
      response.flushHeaders()
    } else if (step.do === 'event') {
      throw new Error('events must be encoded before they are played')
    } else if (step.do === 'bytes') {
      if (step.bytes.length === 0) continue
      sent = true
      if (!response.write(step.bytes)) await either(signal, (done) => response.once('drain', done))
    } else if (step.do === 'pause') {
      if (stage.msPerDelta > 0) await slept(step.deltas * stage.msPerDelta)
    } else if (step.do === 'sleep') {
      await slept(step.ms)
    } else if (step.do === 'wait') {
      await either(signal, (done) => void step.until().then(done, done))
    } else {
      // in real time, whatever the pace
      if (sent) await settling(SETTLE_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      stage.ending()
      if (step.how === 'reset') incoming.socket.resetAndDestroy()
      else incoming.socket.end()
      return
    }
    if (signal.aborted) return
  }
  response.once('finish', stage.ending)
  response.end()
}

/** Waits for one thing or for the signal, whichever comes first. */
function either(signal: AbortSignal, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', done)
    begin(done)
  })
}
