import { shares as english } from '../words/en/shares.js'
import { t as common, language } from '../words/words.js'
import { shares as chinese } from '../words/zh/shares.js'

/** All words, with those of shares, which come with their screen. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
