import type { VideoStatus } from './tasks.ts'

/** All statuses of a task. */
export const videoStatuses: readonly VideoStatus[] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
]
