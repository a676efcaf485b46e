import { usage as english } from '../words/en/usage.js'
import { t as common, language } from '../words/words.js'
import { usage as chinese } from '../words/zh/usage.js'

/** All words, with those of usage, which come with their screens. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
