import { Counter, Gauge, type Registry } from 'prom-client'
import { systemClock } from '../shared/clock.ts'

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
  /** Milliseconds since 1970. */
  readonly oldestAt?: number
}

/** Age at which counts are no longer reported, in milliseconds: another process reports them by then. */
const maxAgeMs = 15_000

/** Adds the metrics to registries. */
export const createVideoMetrics = (registers: Registry[]): VideoMetrics => {
  let known: { readonly at: number; readonly counts: readonly TaskCount[] } | undefined
  const recent = (): readonly TaskCount[] => (known && performance.now() - known.at <= maxAgeMs ? known.counts : [])
  const ends = new Counter({
    name: 'sluice_video_tasks_total',
    help: 'Video tasks that the upstream has ended.',
    labelNames: ['status'],
    registers,
  })
  new Gauge({
    name: 'sluice_video_tasks',
    help: 'Video tasks that wait in the queue, that the upstream has, and that run for too long, by model or endpoint. One process reports them.',
    labelNames: ['pool', 'phase'],
    registers,
    collect() {
      this.reset()
      for (const { pool, phase, count } of recent()) this.set({ pool, phase }, count)
    },
  })
  new Gauge({
    name: 'sluice_video_queue_age_seconds',
    help: 'Age of the oldest waiting video task, by model or endpoint. One process reports it.',
    labelNames: ['pool'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      for (const { pool, oldestAt } of recent())
        if (oldestAt !== undefined) this.set({ pool }, Math.max(0, systemClock.now() - oldestAt) / 1000)
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
