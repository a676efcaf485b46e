/** Languages that pages are written in; the first is for everybody else. */
export const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

/** The language that a browser likes best of those there are (RFC 9110 section 12.5.4). */
export const languageOf = (accepted: string | null): Language => {
  let best: Language = 'en'
  let most = 0
  // Longer than any browser's list is no list.
  for (const range of (accepted ?? '').slice(0, 1_024).split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const language = languages.find((known) => tag === known || tag.startsWith(`${known}-`))
    const quality = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)
    if (language && quality > most) {
      best = language
      most = quality
    }
  }
  return best
}
