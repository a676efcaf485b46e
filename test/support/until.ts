const maxPauseMs = 50

/** Waits until the condition is true. The longer it takes, the rarer the condition is evaluated: it may be a request, and other tests run. */
export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(pauseMs * 1.1, maxPauseMs))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
}
