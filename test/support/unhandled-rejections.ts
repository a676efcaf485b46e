import { afterAll, beforeAll } from 'bun:test'

/** Records the unhandled rejections of the process while the tests of the file run. */
export const recordUnhandledRejections = (): readonly unknown[] => {
  const recorded: unknown[] = []
  const record = (reason: unknown) => void recorded.push(reason)
  beforeAll(() => void process.on('unhandledRejection', record))
  afterAll(() => void process.off('unhandledRejection', record))
  return recorded
}
