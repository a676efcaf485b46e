import { VideoError } from './video-error.ts'

const rpm = 'Requests Per Minute (RPM)'
const tpm = 'Tokens Per Minute (TPM)'
const resets = 'It will reset at 2026-12-01 00:00:00 +0800 CST.'

const endpoint = (limit: string) =>
  `The ${limit} limit of the associated endpoint for your account has been exceeded. Please try again later.`
const model = (limit: string) => `${limit} limit of the model is exceeded.`

/** A kind of 429. */
export type RateLimitKind =
  | 'endpoint-rpm'
  | 'endpoint-tpm'
  | 'model-rpm'
  | 'model-tpm'
  | 'model-ipm'
  | 'api-rpm'
  | 'account'
  | 'queue'
  | 'trial'
  | 'five-hours'
  | 'week'
  | 'month'
  | 'inflight'
  | 'overloaded'
  | 'burst'
  | 'set'

/** All kinds of 429: code and message (vendor page 1299023). Several kinds have one code, and differ in the message. */
const errors: Readonly<Record<RateLimitKind, readonly [code: string, message: string]>> = {
  'endpoint-rpm': ['RateLimitExceeded.EndpointRPMExceeded', endpoint(rpm)],
  'endpoint-tpm': ['RateLimitExceeded.EndpointTPMExceeded', endpoint(tpm)],
  'model-rpm': ['ModelAccountRpmRateLimitExceeded', model(rpm)],
  'model-tpm': ['ModelAccountTpmRateLimitExceeded', model(tpm)],
  'model-ipm': ['ModelAccountIpmRateLimitExceeded', model('Images Per Minute (IPM)')],
  'api-rpm': ['APIAccountRpmRateLimitExceeded', `The ${rpm} limit for the API on your account has been exceeded.`],
  account: ['AccountRateLimitExceeded', `The ${rpm} limit of your account has been exceeded.`],
  queue: ['QuotaExceeded', 'The request has exceeded the quota.'],
  trial: ['QuotaExceeded', 'Your account [2100000000] has exhausted its free trial quota for the [seedance] model.'],
  'five-hours': ['QuotaExceeded', `You have exceeded the 5-hour usage quota. ${resets}`],
  week: ['QuotaExceeded', `You have exceeded the weekly usage quota. ${resets}`],
  month: ['QuotaExceeded', `You have exceeded the monthly usage quota. ${resets}`],
  inflight: [
    'InflightBatchsizeExceeded',
    'The number of tasks in flight has exceeded the limit of the recharge tier of your account.',
  ],
  overloaded: [
    'ServerOverloaded',
    'The service is currently unable to handle additional requests due to server overload. Please retry later.',
  ],
  burst: [
    'RequestBurstTooFast',
    'System protection triggered by request burst. Please slow down traffic growth and increase requests gradually.',
  ],
  set: [
    'SetLimitExceeded',
    'Your account [2100000000] has reached the set inference limit for the [seedance] model, and the model service has been paused.',
  ],
}

/** The names of all kinds of 429. */
export const rateLimitKinds = Object.keys(errors) as readonly RateLimitKind[]

/** The error of a kind. */
export const rateLimitError = (kind: RateLimitKind): VideoError => {
  const [code, message] = errors[kind]
  return new VideoError(429, code, message)
}

/** Counts calls in a sliding window of one minute. */
export interface MinuteCounter {
  /** Counts a call of `key`, or throws the error of `kind`. Rejected calls do not count. */
  take(key: string, max: number, kind: RateLimitKind): void
}

/** Creates a counter. `now` returns ms since 1970. */
export const createMinuteCounter = (now: () => number): MinuteCounter => {
  const taken = new Map<string, number[]>()
  return {
    take(key, max, kind) {
      if (max === Number.POSITIVE_INFINITY) return
      const at = now()
      const recent = (taken.get(key) ?? []).filter((time) => at - time < 60_000)
      taken.set(key, recent)
      if (recent.length >= max) throw rateLimitError(kind)
      recent.push(at)
    },
  }
}
