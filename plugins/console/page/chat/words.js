import { chat as english } from '../words/en/chat.js'
import { t as common, language } from '../words/words.js'
import { chat as chinese } from '../words/zh/chat.js'

/** All words, with those of the chat, which come with its screen. */
export const t = { ...common, ...(language === 'zh' ? chinese : english) }
