import { assets } from './en/assets.js'
import { face } from './en/face.js'
import { frame } from './en/frame.js'
import { login } from './en/login.js'
import { uploads } from './en/uploads.js'
import { videos } from './en/videos.js'

/** All words of the console in English. */
export const english = { ...assets, ...face, ...frame, ...login, ...uploads, ...videos }
