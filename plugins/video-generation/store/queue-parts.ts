import type { VideoQueue } from './queue.ts'

// The parts of `VideoQueue`, which each store implements in a file of its own.

/** Tasks from their creation to the upstream's answer. */
export type VideoClaims = Pick<
  VideoQueue,
  | 'addVideoTask'
  | 'claimVideoTask'
  | 'poolsWithWaiting'
  | 'confirmVideoTask'
  | 'releaseVideoTask'
  | 'failVideoTask'
  | 'dropVideoTask'
  | 'suspendVideoTask'
  | 'suspendedVideoTasks'
  | 'videoTaskRequest'
  | 'resumeVideoTask'
  | 'unsettledVideoTasks'
  | 'deferVideoClaim'
  | 'knownUpstreamIds'
>

/** Tasks that the upstream has. */
export type VideoMoves = Pick<VideoQueue, 'dueVideoTasks' | 'hintVideoTask' | 'moveVideoTasks'>

/** Copies of results. */
export type VideoCopies = Pick<
  VideoQueue,
  'dueVideoCopies' | 'leaseVideoCopy' | 'extendVideoCopy' | 'endVideoTask' | 'releaseVideoCopy'
>

/** Ends of tasks that the upstream never saw, and the deletion of those that have ended. */
export type VideoEnds = Pick<
  VideoQueue,
  | 'cancelWaitingVideoTask'
  | 'deleteVideoTask'
  | 'expireWaitingVideoTasks'
  | 'sweepVideoTasks'
  | 'sweepVideoRequests'
  | 'sweepVideoPools'
>
