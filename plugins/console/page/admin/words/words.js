import { language } from '../../words/words.js'
import { chinese } from './chinese.js'
import { english } from './english.js'

/** @typedef {typeof english} AdminWords */

/** The words of the operators' screens, in the language of the user. @type {AdminWords} */
export const w = language === 'zh' ? chinese : english
