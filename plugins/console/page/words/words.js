import { chinese } from './chinese.js'
import { english } from './english.js'
import { preferences } from './preferences.js'

/** @typedef {typeof english} Words */

const ofBrowser = navigator.language

export const language = preferences.language ?? (/^zh\b/i.test(ofBrowser) ? 'zh' : 'en')

/** The language of numbers and times: the region of the browser, if its language is the one that is shown. */
export const locale = ofBrowser?.toLowerCase().startsWith(language) || !preferences.language ? ofBrowser : language

/** The words of the console in the language of the user. @type {Words} */
export const t = language === 'zh' ? chinese : english
