import { randomBytes } from 'node:crypto'

/** A new id of a task, in the vendor's form with a longer random part: `cgt-20261123030405-` and 20 letters and digits (100 bits). Ids sort by time. */
export const newTaskId = (now: number): string => {
  const time = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14)
  return `cgt-${time}-${randomText()}`
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const randomText = (): string => Array.from(randomBytes(20), (byte) => alphabet[byte & 31]).join('')

/** Whether a text has the form of an id. No other text is looked up. */
export const isTaskId = (text: string): boolean => /^cgt-\d{14}-[0-9a-z]{20}$/.test(text)
