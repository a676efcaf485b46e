/** Shortest and longest time between two updates. Milliseconds. */
const minMs = 50
const maxMs = 1_000
/** The page does nothing for so many times as long as an update and its frame have taken. */
const rest = 14

/**
 * Calls `update` as often as the page can bear: an update that takes long, or whose frame does, is followed by a longer
 * pause, so that most of the time stays for the user.
 * @param {() => void} update renders in a microtask
 */
export const createPacedUpdates = (update) => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let pauseMs = minMs
  /** @type {(() => void)[]} */
  const waiting = []
  const updateNow = () => {
    clearTimeout(timer)
    timer = undefined
    update()
    for (const resolve of waiting.splice(0)) resolve()
  }
  const run = () => {
    const startedAt = performance.now()
    updateNow()
    // After the rendering, which `update` has put before it.
    queueMicrotask(() => {
      const updateMs = performance.now() - startedAt
      requestAnimationFrame(() => {
        const begunAt = performance.now()
        // After layout and painting.
        setTimeout(() => {
          pauseMs = Math.min(maxMs, Math.max(minMs, rest * (updateMs + performance.now() - begunAt)))
        })
      })
    })
  }
  return {
    /**
     * Updates after the pause, and resolves then. Who reads a stream and waits for it between two reads gets all that
     * has arrived meanwhile with one read. On a hidden page, where timers are slow, it resolves at once.
     * @returns {Promise<void>}
     */
    next: () => {
      timer ??= setTimeout(run, pauseMs)
      return document.hidden ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))
    },
    /** Updates at once. */
    now: updateNow,
  }
}
