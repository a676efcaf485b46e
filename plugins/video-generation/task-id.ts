import { createHash, randomBytes } from 'node:crypto'

/** A new id of a task, in the vendor's form with a longer random part: `cgt-20261123030405-` and 20 letters and digits (100 bits). Ids sort by time. */
export const newTaskId = (now: number): string => idOf(now, randomBytes(20))

/** The id of the task that an attempt creates: always the same one, so that it can be found after a crash. */
export const taskIdOf = ({ id, startedAt }: { readonly id: string; readonly startedAt: number }): string =>
  idOf(startedAt, createHash('sha256').update(id).digest().subarray(0, 20))

const idOf = (time: number, bytes: Uint8Array): string =>
  `cgt-${new Date(time).toISOString().replace(/\D/g, '').slice(0, 14)}-${textOfBytes(bytes)}`

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const textOfBytes = (bytes: Uint8Array): string => Array.from(bytes, (byte) => alphabet[byte & 31]).join('')

/** Whether a text has the form of an id. No other text is looked up. */
export const isTaskId = (text: string): boolean => /^cgt-\d{14}-[0-9a-z]{20}$/.test(text)
