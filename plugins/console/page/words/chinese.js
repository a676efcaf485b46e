import { assets } from './zh/assets.js'
import { face } from './zh/face.js'
import { frame } from './zh/frame.js'
import { login } from './zh/login.js'
import { uploads } from './zh/uploads.js'
import { videos } from './zh/videos.js'

/** All words of the console in Chinese. @type {typeof import('./english.js').english} */
export const chinese = { ...assets, ...face, ...frame, ...login, ...uploads, ...videos }
