/** Languages of the page. The first one is the default. */
const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

/**
 * The language of the link's `lng` parameter, such as `zh-Hant`; without one, the best match of Accept-Language (RFC
 * 9110 section 12.5.4).
 */
export const languageOf = (lng: string, accepted = ''): Language => {
  const requested = supported(lng)
  if (requested !== undefined) return requested
  let best: Language = languages[0]
  let bestQuality = 0
  for (const range of accepted.split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
    const language = supported(tag)
    const quality = Number(parameters.find((one) => /^q=/i.test(one))?.slice(2) ?? 1)
    if (language === undefined || !(quality > bestQuality)) continue
    best = language
    bestQuality = quality
  }
  return best
}

const supported = (tag: string): Language | undefined => {
  const main = tag.toLowerCase().split('-')[0]
  return languages.find((language) => language === main)
}
