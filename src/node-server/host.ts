/** The latest valid host: most requests have the same. */
let lastHost = ''

/**
 * `uri-host [ ":" port ]` (RFC 9110 section 7.2): a name of letters, digits, `.`, `_`, `~` and `-`, or an IP address;
 * may be empty.
 */
export const isHost = (text: string): boolean => {
  if (text === lastHost) return true
  const [, port = '0'] = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::(\d{0,5}))?$/i.exec(text) ?? [undefined, text]
  const valid = Number(port || '0') <= 65_535
  if (valid) lastHost = text
  return valid
}
