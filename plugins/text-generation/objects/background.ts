import type { Clock } from '../../shared/clock.ts'
import { delay } from '../../shared/delay.ts'
import type { Log } from '../../shared/problem.ts'
import { UpstreamRefusedError } from '../../upstream-proxy/index.ts'
import { type RecordUsage, readTokens } from '../usage.ts'
import { asOwnResponse, type OwnResponse } from './ownership.ts'
import type { TextObject, TextObjectStore } from './store.ts'

export interface BackgroundOptions {
  readonly store: TextObjectStore
  readonly record: RecordUsage
  readonly clock: Clock
  readonly log: Log
}

/** Records the usage of a response in the background, once, whoever sees first that it has ended, in whichever process. Never rejects. */
export type RecordBackgroundUsage = (response: TextObject, usage: unknown) => Promise<void>

export const createBackgroundUsageRecorder =
  ({ store, record, clock, log }: BackgroundOptions): RecordBackgroundUsage =>
  async (response, usage) => {
    const { id, user, token, model } = response
    try {
      // Marked first: a process that dies in between leaves one call uncounted, and none is counted twice.
      if (await store.markUsageRecorded(id)) record({ user, token, model, at: clock.now(), tokens: readTokens(usage) })
    } catch (err) {
      log.warn({ err, response: id }, 'usage of a response in the background could not be recorded')
    }
  }

/** Whether nothing more will become of a response. */
export const isEnded = (response: { readonly status?: unknown }): boolean =>
  ['completed', 'failed', 'incomplete', 'cancelled'].includes(String(response.status))

export interface ReconcileBackgroundOptions extends BackgroundOptions {
  readonly recordBackground: RecordBackgroundUsage
  /** Asks the upstream about a response. */
  readonly retrieve: (response: OwnResponse, signal: AbortSignal) => Promise<{ status?: unknown; usage?: unknown }>
  /** Default: real time, which keeps no process alive. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

const pollMs = 15_000
const minDelayMs = 30_000
const maxDelayMs = 900_000
const sweepMs = 3_600_000
const batchSize = 50

/**
 * Looks after responses in the background that nobody asks for, so that their usage is recorded when they end, and forgets objects that have expired; at once
 * and regularly, until the signal. Processes share the work. Never rejects: what fails is logged and comes up again.
 */
export const reconcileBackground = async (options: ReconcileBackgroundOptions, signal: AbortSignal): Promise<void> => {
  const { store, clock, log, sleep = delay } = options
  let sweptAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    try {
      for (const due of await store.dueTextResponses(clock.now(), batchSize)) {
        if (signal.aborted) return
        await check(due, options, signal).catch((err: unknown) => {
          if (!signal.aborted) log.warn({ err, response: due.id }, 'response in the background could not be looked at')
        })
      }
      if (clock.now() >= sweptAt + sweepMs) {
        while ((await store.sweepTextObjects(clock.now(), 1000)) === 1000) if (signal.aborted) return
        sweptAt = clock.now()
      }
    } catch (err) {
      log.warn({ err }, 'responses in the background could not be looked after')
    }
    await sleep(pollMs, signal)
  }
}

const check = async (
  due: TextObject,
  { store, clock, recordBackground, retrieve }: ReconcileBackgroundOptions,
  signal: AbortSignal,
) => {
  const now = clock.now()
  // Ever more rarely. Put off before it is asked for, so that no other process asks as well.
  const nextCheckAt = now + Math.min(Math.max((now - due.createdAt) / 4, minDelayMs), maxDelayMs)
  if (!(await store.deferTextResponse(due, Math.round(nextCheckAt)))) return
  if (due.expiresAt <= now) return recordBackground(due, undefined)
  const found = await retrieve(asOwnResponse(due), signal).catch((error: unknown) => {
    if (error instanceof UpstreamRefusedError && error.status === 404) return { status: 'cancelled' }
    throw error
  })
  if (isEnded(found)) await recordBackground(due, 'usage' in found ? found.usage : undefined)
}
