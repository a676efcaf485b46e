/** Parameters as they were sent, decoded: every one as often as it was. A `URLSearchParams` is one too. */
export type Query = Iterable<readonly [name: string, value: string]>

/** What `URLSearchParams` reads from the query of an address (URL Standard, section 5.1), in a fraction of its time. */
export const queryOf = (url: string): Query => {
  const pairs: [string, string][] = []
  const mark = url.indexOf('?')
  if (mark === -1) return pairs
  for (const pair of url.slice(mark + 1).split('&')) {
    const end = pair.indexOf('=')
    if (end !== -1) pairs.push([decoded(pair.slice(0, end)), decoded(pair.slice(end + 1))])
    else if (pair !== '') pairs.push([decoded(pair), ''])
  }
  return pairs
}

/** Most names and values stand as they are. */
const decoded = (text: string): string =>
  text.includes('%') || text.includes('+') ? (new URLSearchParams(`=${text}`).get('') ?? '') : text
