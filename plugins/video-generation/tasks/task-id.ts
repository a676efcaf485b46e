import { createHash, randomBytes } from 'node:crypto'

/**
 * Creates new ids of tasks, in the vendor's form with a longer end: `cgt-20261123030405-`, two letters for the
 * milliseconds, and 18 random letters and digits (90 bits). Ids sort by time, and those of one function in the order of
 * its calls.
 */
export const createTaskIds = (): ((now: number) => string) => {
  let lastTime = 0
  return (now) => {
    lastTime = Math.max(now, lastTime + 1)
    return idOf(lastTime, randomBytes(randomLetters))
  }
}

/** The id of the task that an attempt creates: always the same one, so that it can be found after a crash. */
export const taskIdOf = ({ id, startedAt }: { readonly id: string; readonly startedAt: number }): string =>
  idOf(startedAt, createHash('sha256').update(id).digest().subarray(0, randomLetters))

const randomLetters = 18

const idOf = (time: number, bytes: Uint8Array): string => {
  const seconds = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14)
  const ms = time % 1000
  return `cgt-${seconds}-${[ms >> 5, ms, ...bytes].map((byte) => alphabet[byte & 31]).join('')}`
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
