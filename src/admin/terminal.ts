/** Formats a time (milliseconds since 1970) as ISO 8601 in UTC. */
export const time = (ms: number): string => new Date(ms).toISOString()

/**
 * Escapes text of users like a JSON string, so that it stays on one line, runs no terminal command, and is not
 * reordered.
 */
export const escapeForTerminal = (text: string): string =>
  text.replace(unprintable, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Each of these characters is one UTF-16 unit. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** One output line of tab-separated, escaped values. */
export const columns = (...values: readonly string[]): string => values.map(escapeForTerminal).join('\t')

/** Prints a value as JSON, on one line. */
export const printJson = (out: (line: string) => void, value: unknown): void =>
  out(escapeForTerminal(JSON.stringify(value)))
