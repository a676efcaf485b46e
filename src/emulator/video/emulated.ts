import type { Library } from '../library/library.ts'
import type { VideoCallback } from './callbacks.ts'
import type { VideoService } from './service.ts'
import type { VideoOutcome, VideoTask } from './tasks/task.ts'

/** The tasks of video generation, for tests: without the API, its key and its limits. */
export interface VideoTasks {
  /** all tasks since the start, oldest first, also those that are gone; grows without limit */
  tasks(): VideoTask[]
  /** Ends a queued or running task now; default: it succeeds. Throws for an unknown task and for one that has ended. */
  finish(id: string, outcome?: VideoOutcome): VideoTask
  /** advances the clock of tasks, links and the asset library by `ms`, and brings all tasks up to the new time */
  advance(ms: number): void
  /** all attempts to deliver a callback since the start, oldest first; grows without limit */
  callbacks(): VideoCallback[]
  /** resolves when no callback waits for its answer or its next attempt */
  callbacksSettled(): Promise<void>
}

/** The tasks of a service. */
export const videoTasksOf = ({ tasks, callbacks }: VideoService, library: Library): VideoTasks => ({
  tasks: tasks.all,
  finish(id, outcome = { status: 'succeeded' }) {
    const task = tasks.find(id)
    if (task === undefined) throw new Error(`there is no video task ${id}`)
    const ended = tasks.finish(task, outcome)
    if (ended === undefined) throw new Error(`the video task ${id} has ended: ${task.status}`)
    return ended
  },
  advance(ms) {
    library.advance(ms)
    tasks.settle()
  },
  callbacks: callbacks.list,
  callbacksSettled: callbacks.settled,
})
