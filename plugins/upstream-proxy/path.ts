/** The one place that turns an id into a path: every value is one segment, whatever characters are in it (reading 32). */
export const path = (parts: TemplateStringsArray, ...ids: readonly string[]): string =>
  String.raw({ raw: parts }, ...ids.map(encodeURIComponent))
