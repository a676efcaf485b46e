import { account as english } from '../words/en/account.js'
import { t as common, language } from '../words/words.js'
import { account as chinese } from '../words/zh/account.js'

/** All words, with those of the account, tokens, webhooks and connections, which come with their screens. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
