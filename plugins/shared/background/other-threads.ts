/**
 * Lets other threads of this process run for a moment, if it has one processor only.
 *
 * Bun (1.4.5) sends and receives the requests of `fetch` in another thread. On the processor of this thread, it would
 * run at the end of this one's time slice, up to some milliseconds later, and the responses would arrive all at once.
 */
export const letOtherThreadsRun = (): void => {
  if (isNecessary) Atomics.wait(neverNotified, 0, 0, shortestMs)
}

const isNecessary = 'Bun' in globalThis && navigator.hardwareConcurrency === 1
const neverNotified = new Int32Array(new SharedArrayBuffer(4))
/** Linux makes it some 60 µs longer. */
const shortestMs = 0.001
