import { Refusal } from './answer.ts'

/**
 * The one place that turns an id into a path: every value is one segment, whatever characters are in it (reading 32). An empty one and dot segments
 * would be resolved away however they are encoded; there is nothing behind them.
 */
export const path = (parts: TemplateStringsArray, ...ids: readonly string[]): string => {
  if (ids.some((id) => /^\.{0,2}$/.test(id) || !id.isWellFormed())) throw nowhere()
  return String.raw({ raw: parts }, ...ids.map(encodeURIComponent))
}

/** The answer about an id that nothing upstream can have, given without asking. */
export const nowhere = (): Refusal => new Refusal({ status: 404, headers: new Headers(), bytes: new Uint8Array() })
