import type { Json } from '../../shared/reader.ts'
import type { VideoModel } from '../models.ts'
import type { VideoRequest } from '../request/task-request.ts'

/** The states of a task: `queued`, then `running`, then one of the end states; or `queued`, then `cancelled`. */
export const videoStatuses = ['queued', 'running', 'succeeded', 'failed', 'expired', 'cancelled'] as const
export type VideoStatus = (typeof videoStatuses)[number]

/** How a task ends. `expired`: it runs until its time is over. */
export type VideoOutcome =
  | { readonly status: 'succeeded' | 'expired' }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

/** An immutable record of a task. A change creates a new record. Times are in ms since 1970. */
export interface VideoTask {
  readonly id: string
  readonly model: VideoModel
  /** `model` of the request: the id of the model or of an endpoint */
  readonly requestedModel: string
  /** the body of the create request, as sent */
  readonly body: Json
  /** the body with all defaults applied */
  readonly request: VideoRequest
  readonly status: VideoStatus
  /** the reason of status failed */
  readonly error?: { readonly code: string; readonly message: string }
  readonly createTime: number
  readonly startTime?: number
  readonly endTime?: number
  /** time of the last change of the status */
  readonly updateTime: number
  /** whether the API no longer has it: deleted, older than 7 days, or cancelled for 24 hours */
  readonly gone: boolean
  /** creation number; it orders tasks of the same time */
  readonly number: number
}

/**
 * The default outcome. It depends only on the prompt: `fail with CODE` fails with that code, `run forever` runs until
 * the task expires, everything else succeeds.
 */
export const outcomeByPrompt = ({ request: { prompt, laterError } }: VideoTask): VideoOutcome => {
  if (laterError !== undefined) return { status: 'failed', ...laterError }
  const code = prompt.match(/\bfail with ([A-Za-z.]+[A-Za-z])/)?.[1]
  if (code !== undefined) return { status: 'failed', code, message: `The generation ended with ${code}.` }
  return { status: /\brun forever\b/.test(prompt) ? 'expired' : 'succeeded' }
}
