/** Runs with `--all`: further seeds of a long random walk, on each database. video-queue.test.ts has the first ones. */
import { beforeAll, test } from 'bun:test'
import { eachVideoQueue, type RecordedQueue } from '../support/video-queues.ts'
import { walkVideoQueue } from './video-queue-walk.ts'

eachVideoQueue('the queue of video tasks', (queue) => {
  let stores: readonly [RecordedQueue, RecordedQueue]
  beforeAll(async () => {
    stores = [await queue.open(), await queue.open()]
  })

  test.each([3, 4])(
    'keeps its rules under random steps of two processes that crash (seed %i)',
    (seed) => walkVideoQueue(queue, stores, seed),
    300_000,
  )
})
