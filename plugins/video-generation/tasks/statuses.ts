/** The statuses of a task, as the vendor has them. */
export type VideoStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'expired' | 'cancelled'

/** All statuses of a task. */
export const videoStatuses: readonly VideoStatus[] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
]

/** The types of the events of a task: one for each status that its user sees, and one for its deletion. */
export type VideoEventType = `video.${VideoStatus | 'deleted'}`
