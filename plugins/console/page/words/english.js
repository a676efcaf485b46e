import { account } from './en/account.js'
import { assets } from './en/assets.js'
import { chat } from './en/chat.js'
import { face } from './en/face.js'
import { frame } from './en/frame.js'
import { uploads } from './en/uploads.js'
import { usage } from './en/usage.js'
import { videos } from './en/videos.js'

/** All words of the console in English. */
export const english = { ...account, ...assets, ...chat, ...face, ...frame, ...uploads, ...usage, ...videos }
