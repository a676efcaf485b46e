/** Shortest and longest time between two updates. Milliseconds. */
const minMs = 30
const maxMs = 1_000
/** The page does nothing for so many times as long as an update has taken. */
const rest = 8

/**
 * Calls `update` soon after `request` was called, as often as the page can bear: an update that takes long is followed
 * by a longer pause, so that most of the time stays for the user.
 * @param {() => void} update renders in a microtask
 */
export const createPacedUpdates = (update) => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let pauseMs = minMs
  const run = () => {
    timer = undefined
    const startedAt = performance.now()
    update()
    // After the page has rendered it.
    setTimeout(() => {
      pauseMs = Math.min(maxMs, Math.max(minMs, rest * (performance.now() - startedAt)))
    })
  }
  return {
    request: () => {
      timer ??= setTimeout(run, pauseMs)
    },
    /** Updates at once, for the last time. */
    end: () => {
      clearTimeout(timer)
      timer = undefined
      update()
    },
  }
}
