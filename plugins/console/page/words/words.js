import { chinese } from './chinese.js'
import { english } from './english.js'

/** @typedef {typeof english} Words */

export const locale = navigator.language
export const language = /^zh\b/i.test(locale) ? 'zh' : 'en'

/** The words of the console in the language of the user. @type {Words} */
export const t = language === 'zh' ? chinese : english
