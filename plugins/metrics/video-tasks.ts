import { Counter, Gauge, type Registry } from 'prom-client'

/** The metrics of video generation. */
export interface VideoMetrics {
  /** Counts a video task that has ended. For the option `observeEnd` of `video-generation`. */
  videoEnd(status: string): void
  /** Sets the gauges of waiting and running video tasks. For the option `observeCounts` of `video-generation`. */
  videoTasks(counts: readonly TaskCount[]): void
}

interface TaskCount {
  readonly pool: string
  readonly phase: string
  readonly count: number
}

/** Age at which counts are no longer reported, in milliseconds: another process reports them by then. */
const maxAgeMs = 15_000

/** Adds the metrics to registries. */
export const createVideoMetrics = (registers: Registry[]): VideoMetrics => {
  let known: { readonly at: number; readonly counts: readonly TaskCount[] } | undefined
  const ends = new Counter({
    name: 'sluice_video_tasks_total',
    help: 'Video tasks that the upstream has ended.',
    labelNames: ['status'],
    registers,
  })
  new Gauge({
    name: 'sluice_video_tasks',
    help: 'Video tasks that wait in the queue, and those that the upstream has, by model or endpoint. One process reports them.',
    labelNames: ['pool', 'phase'],
    registers,
    collect() {
      this.reset()
      if (!known || performance.now() - known.at > maxAgeMs) return
      for (const { pool, phase, count } of known.counts) this.set({ pool, phase }, count)
    },
  })
  return {
    videoEnd(status) {
      ends.inc({ status })
    },
    videoTasks(counts) {
      known = { at: performance.now(), counts }
    },
  }
}
