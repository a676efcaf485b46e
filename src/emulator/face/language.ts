/** Languages of the page; the first is for everybody else. */
const LANGUAGES = ['en', 'zh'] as const
export type Language = (typeof LANGUAGES)[number]

/** The language that a link names, such as `zh-Hant`; if it names none, the one that a browser likes best (RFC 9110 section 12.5.4). */
export function languageOf(lng: string, accepted = ''): Language {
  const named = known(lng)
  if (named !== undefined) return named
  let best: Language = LANGUAGES[0]
  let most = 0
  for (const range of accepted.split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const language = known(tag)
    const quality = Number(parameters.find((one) => /^q=/i.test(one))?.slice(2) ?? 1)
    if (language === undefined || !(quality > most)) continue
    best = language
    most = quality
  }
  return best
}

function known(tag: string): Language | undefined {
  const main = tag.toLowerCase().split('-')[0]
  return LANGUAGES.find((language) => language === main)
}
