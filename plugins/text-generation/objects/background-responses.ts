import type { Background } from '../../shared/background/background.ts'
import { inLanes } from '../../shared/background/in-lanes.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/problem.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import type { TokenHistory } from '../limits/history.ts'
import type { CostOf } from '../usage/prices.ts'
import { type RecordUsage, readTokens } from '../usage/usage.ts'
import { asOwnedResponse, type OwnedResponse } from './ownership.ts'
import type { TextObject, TextObjectStore } from './store.ts'
import type { StoredResponseStore } from './stored/store.ts'

export interface BackgroundUsageOptions {
  readonly store: TextObjectStore
  readonly record: RecordUsage
  /** Undefined: no model has a price. */
  readonly costOf?: CostOf | undefined
  /** Learns what users and models use, for estimates of later calls. Undefined: there are no limits. */
  readonly history?: Pick<TokenHistory, 'add'> | undefined
  readonly clock: Clock
  readonly log: Log
}

/**
 * Records the usage of a finished background response once, even if several processes notice its end. Never rejects.
 */
export type RecordBackgroundUsage = (response: TextObject, usage: unknown) => Promise<void>

export const createBackgroundUsageRecorder =
  ({ store, record, costOf, history, clock, log }: BackgroundUsageOptions): RecordBackgroundUsage =>
  async (response, usage) => {
    const { id, user, token, model } = response
    try {
      // The mark comes first: a crash between the two steps loses one call, but never counts one twice.
      const tokens = readTokens(usage)
      const cost = tokens && costOf?.({ model, tokens })
      const used = tokens && { tokens: tokens.input + tokens.output, ...(cost !== undefined && { cost }) }
      if (tokens) history?.add(response, tokens.output)
      if (await store.markUsageRecorded(id, used)) record({ user, token, model, at: clock.now(), tokens })
    } catch (err) {
      log.warn({ err, response: id }, 'usage of a background response could not be recorded')
    }
  }

/** Whether the status of a response is final. */
export const isResponseEnded = (response: { readonly status?: unknown }): boolean =>
  ['completed', 'failed', 'incomplete', 'cancelled'].includes(String(response.status))

export interface BackgroundResponsesOptions extends BackgroundUsageOptions {
  readonly recordBackground: RecordBackgroundUsage
  /** Also removes expired responses that the gateway stores. */
  readonly storedResponses?: Pick<StoredResponseStore, 'sweepStoredResponses'>
  /** Retrieves a response from the upstream. */
  readonly retrieve: (response: OwnedResponse, signal: AbortSignal) => Promise<{ status?: unknown; usage?: unknown }>
}

const pollMs = 15_000
const minDelayMs = 30_000
const maxDelayMs = 900_000
const sweepMs = 3_600_000
const batchSize = 50
/** Pause after a full batch. */
const nextBatchMs = 1_000
/** Responses that are polled at once. */
const lanes = 8
/** Time limit of a poll: others wait for it. */
const pollTimeoutMs = 30_000

/**
 * Polls background responses and records their usage when they end; removes expired objects. Several processes share
 * the work.
 */
export const pollBackgroundResponses = (options: BackgroundResponsesOptions, background: Background): void => {
  const { store, storedResponses, clock, log } = options
  const sweepAll = async (sweep: () => Promise<number>, most: number): Promise<void> => {
    try {
      while (!background.signal.aborted && (await sweep()) === most);
    } catch (err) {
      log.warn({ err }, 'expired objects could not be removed')
    }
  }
  background.repeat({
    ...{ everyMs: pollMs, log, failure: 'background responses could not be polled' },
    async run(signal) {
      const all = await store.dueTextResponses(clock.now(), batchSize)
      await inLanes(all, lanes, async (due) => {
        if (signal.aborted) return
        await check(due, options, signal).catch((err: unknown) => {
          if (!signal.aborted) log.warn({ err, response: due.id }, 'background response could not be polled')
        })
      })
      // Else one user with very many would delay what the limits of all others get back.
      return all.length < batchSize ? pollMs : nextBatchMs
    },
  })
  background.repeat({
    ...{ everyMs: sweepMs, log, failure: 'expired objects could not be removed' },
    async run() {
      await sweepAll(() => store.sweepTextObjects(clock.now(), 1000), 1000)
      if (storedResponses) await sweepAll(() => storedResponses.sweepStoredResponses(clock.now(), 100), 100)
      return sweepMs
    },
  })
}

const check = async (
  due: TextObject,
  { store, clock, recordBackground, retrieve }: BackgroundResponsesOptions,
  signal: AbortSignal,
) => {
  const now = clock.now()
  // The delay grows with the age of the response. It is set before the request, so that no other process polls the same
  // response.
  const nextCheckAt = now + Math.min(Math.max((now - due.createdAt) / 4, minDelayMs), maxDelayMs)
  if (!(await store.deferTextResponse(due, Math.round(nextCheckAt)))) return
  if (due.expiresAt <= now) return recordBackground(due, undefined)
  const late = new AbortController()
  const cancelTimer = clock.at(now + pollTimeoutMs, () => late.abort(new Error('the upstream did not respond in time')))
  const found = await retrieve(asOwnedResponse(due), AbortSignal.any([signal, late.signal]))
    .catch((error: unknown) => {
      if (error instanceof UpstreamRejectedError && error.status === 404) return { status: 'cancelled' }
      throw error
    })
    .finally(cancelTimer)
  if (isResponseEnded(found)) await recordBackground(due, 'usage' in found ? found.usage : undefined)
}
