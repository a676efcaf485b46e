import { account } from './zh/account.js'
import { assets } from './zh/assets.js'
import { chat } from './zh/chat.js'
import { face } from './zh/face.js'
import { frame } from './zh/frame.js'
import { uploads } from './zh/uploads.js'
import { usage } from './zh/usage.js'
import { videos } from './zh/videos.js'

/** All words of the console in Chinese. @type {import('./words.js').Words} */
export const chinese = { ...account, ...assets, ...chat, ...face, ...frame, ...uploads, ...usage, ...videos }
