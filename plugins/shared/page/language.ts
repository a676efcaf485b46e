/** Languages of pages. The first is the default. */
export const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

/** The best supported language for an `Accept-Language` header (RFC 9110 section 12.5.4). */
export const languageOf = (accepted: string | null): Language => {
  let best: Language = 'en'
  let bestQuality = 0
  // No browser sends a longer header.
  for (const range of (accepted ?? '').slice(0, 1_024).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const language = languages.find((known) => tag === known || tag.startsWith(`${known}-`))
    const quality = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)
    if (language && quality > bestQuality) {
      best = language
      bestQuality = quality
    }
  }
  return best
}
