import { consents as english } from '../words/en/consents.js'
import { t as common, language } from '../words/words.js'
import { consents as chinese } from '../words/zh/consents.js'

/** All words, with those of consents, which come with their screen. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
