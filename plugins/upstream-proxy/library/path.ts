import { UpstreamRefusedError } from '../response.ts'

/**
 * The one place that turns an id into a path: every value is one segment, whatever characters are in it. An empty one and dot segments
 * would be resolved away however they are encoded; there is nothing behind them.
 */
export const path = (parts: TemplateStringsArray, ...ids: readonly string[]): string => {
  let path = parts[0] ?? ''
  for (const [nth, id] of ids.entries()) {
    if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) throw nowhere()
    path += encodeURIComponent(id) + parts[nth + 1]
  }
  return path
}

/** The answer about an id that nothing upstream can have, given without asking. */
export const nowhere = (): UpstreamRefusedError =>
  new UpstreamRefusedError({ status: 404, headers: new Headers(), bytes: new Uint8Array() })
