/**
 * Stops the server at the first SIGTERM or SIGINT, and then exits with status 0. A worker also stops when its
 * supervisor has ended: it would otherwise share the port with the workers of the next start.
 *
 * A second signal, more than a second later, exits at once with status 1.
 */
export const stopOnSignal = (running: { stop(): Promise<void> }): void => {
  let stoppingSince: number | undefined
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) {
    process.on(event, () => {
      if (stoppingSince === undefined) {
        stoppingSince = performance.now()
        void running.stop().finally(() => process.exit(0))
      } else if (performance.now() - stoppingSince > 1000) {
        // Ctrl-C sends two signals at the same time, one from the terminal and one from `bun run`. Only a later signal
        // is deliberate.
        process.exit(1)
      }
    })
  }
}
