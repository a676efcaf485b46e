import { Problem } from './problem.ts'

/** Throws Problem 400 when `text` has more than `most` characters, counted in Unicode code points. */
export const limitLength = (field: string, text: string, most: number): void => {
  // A code point is one or two units: only between the two bounds is counting needed.
  if (text.length > most && (text.length > 2 * most || [...text].length > most)) {
    throw new Problem(400, `${field} must be at most ${most} characters`)
  }
}

/** The same text in memory of its own, for what is kept: one that was cut out of a longer text holds on to all of that, on every runtime. */
export const ownText = (text: string): string => JSON.parse(JSON.stringify(text))
