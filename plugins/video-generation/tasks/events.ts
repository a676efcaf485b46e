import type { VideoStatus } from './tasks.ts'

/** The types of the events of a task: one for each status that its user sees, and one for its deletion. */
export type VideoEventType = `video.${VideoStatus | 'deleted'}`
