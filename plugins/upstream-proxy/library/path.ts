import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'

/**
 * Template tag that builds a path. Each id becomes exactly one segment, whatever characters it contains.
 *
 * Throws 404 for an empty id, for `.` and `..`, and for a lone surrogate. URL parsers remove dot segments even when
 * they are percent-encoded (https://url.spec.whatwg.org/#double-dot-path-segment), so such an id would change the path.
 */
export const path = (parts: TemplateStringsArray, ...ids: readonly string[]): string => {
  let path = parts[0] ?? ''
  for (const [index, id] of ids.entries()) {
    if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) throw notFound()
    path += encodeURIComponent(id) + parts[index + 1]
  }
  return path
}

/** The 404 for an id that cannot exist upstream. The client throws it without a call. */
export const notFound = (): UpstreamRejectedError =>
  new UpstreamRejectedError({ status: 404, headers: new Headers(), bytes: new Uint8Array() })
