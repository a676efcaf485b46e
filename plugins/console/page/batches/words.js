import { batches as english } from '../words/en/batches.js'
import { t as common, language } from '../words/words.js'
import { batches as chinese } from '../words/zh/batches.js'

/** All words, with those of batches, which come with their screens. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
