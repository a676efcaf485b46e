import type { Tasks } from './tasks.ts'

/** ms of real time. The emulator's clock can be faster than real time, or a test moves it. */
const maxWaitMs = 50
const minWaitMs = 5

/** Brings tasks up to the present when their next change is due, so that callbacks need no request. */
export interface TaskTimer {
  /** starts to wait, unless it waits already; ends by itself when no task is queued or running */
  start(): void
  stop(): void
}

export const createTimer = (tasks: Pick<Tasks, 'nextTime' | 'settle'>, now: () => number): TaskTimer => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  const start = (): void => {
    if (timer !== undefined || stopped) return
    timer = setTimeout(check, Math.min(Math.max(tasks.nextTime() - now(), minWaitMs), maxWaitMs))
  }
  const check = (): void => {
    timer = undefined
    tasks.settle()
    if (tasks.nextTime() !== Number.POSITIVE_INFINITY) start()
  }
  return {
    start,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
