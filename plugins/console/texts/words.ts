/// <reference path="./text-imports.d.ts" />

import wordsChinese from '../page/words/chinese.js' with { type: 'text' }
import wordsEnAccount from '../page/words/en/account.js' with { type: 'text' }
import wordsEnAssets from '../page/words/en/assets.js' with { type: 'text' }
import wordsEnBatches from '../page/words/en/batches.js' with { type: 'text' }
import wordsEnChat from '../page/words/en/chat.js' with { type: 'text' }
import wordsEnConsents from '../page/words/en/consents.js' with { type: 'text' }
import wordsEnFace from '../page/words/en/face.js' with { type: 'text' }
import wordsEnFrame from '../page/words/en/frame.js' with { type: 'text' }
import wordsEnLogin from '../page/words/en/login.js' with { type: 'text' }
import wordsEnShares from '../page/words/en/shares.js' with { type: 'text' }
import wordsEnUploads from '../page/words/en/uploads.js' with { type: 'text' }
import wordsEnUsage from '../page/words/en/usage.js' with { type: 'text' }
import wordsEnVideos from '../page/words/en/videos.js' with { type: 'text' }
import wordsEnglish from '../page/words/english.js' with { type: 'text' }
import wordsFormat from '../page/words/format.js' with { type: 'text' }
import wordsPreferences from '../page/words/preferences.js' with { type: 'text' }
import wordsSize from '../page/words/size.js' with { type: 'text' }
import wordsWords from '../page/words/words.js' with { type: 'text' }
import wordsZhAccount from '../page/words/zh/account.js' with { type: 'text' }
import wordsZhAssets from '../page/words/zh/assets.js' with { type: 'text' }
import wordsZhBatches from '../page/words/zh/batches.js' with { type: 'text' }
import wordsZhChat from '../page/words/zh/chat.js' with { type: 'text' }
import wordsZhConsents from '../page/words/zh/consents.js' with { type: 'text' }
import wordsZhFace from '../page/words/zh/face.js' with { type: 'text' }
import wordsZhFrame from '../page/words/zh/frame.js' with { type: 'text' }
import wordsZhLogin from '../page/words/zh/login.js' with { type: 'text' }
import wordsZhShares from '../page/words/zh/shares.js' with { type: 'text' }
import wordsZhUploads from '../page/words/zh/uploads.js' with { type: 'text' }
import wordsZhUsage from '../page/words/zh/usage.js' with { type: 'text' }
import wordsZhVideos from '../page/words/zh/videos.js' with { type: 'text' }

/** The modules of the page's words, by file name. */
export const wordModules: Readonly<Record<string, string>> = {
  'words/chinese.js': wordsChinese,
  'words/en/account.js': wordsEnAccount,
  'words/en/assets.js': wordsEnAssets,
  'words/en/batches.js': wordsEnBatches,
  'words/en/chat.js': wordsEnChat,
  'words/en/consents.js': wordsEnConsents,
  'words/en/face.js': wordsEnFace,
  'words/en/frame.js': wordsEnFrame,
  'words/en/login.js': wordsEnLogin,
  'words/en/shares.js': wordsEnShares,
  'words/en/uploads.js': wordsEnUploads,
  'words/en/usage.js': wordsEnUsage,
  'words/en/videos.js': wordsEnVideos,
  'words/english.js': wordsEnglish,
  'words/format.js': wordsFormat,
  'words/preferences.js': wordsPreferences,
  'words/size.js': wordsSize,
  'words/words.js': wordsWords,
  'words/zh/account.js': wordsZhAccount,
  'words/zh/assets.js': wordsZhAssets,
  'words/zh/batches.js': wordsZhBatches,
  'words/zh/chat.js': wordsZhChat,
  'words/zh/consents.js': wordsZhConsents,
  'words/zh/face.js': wordsZhFace,
  'words/zh/frame.js': wordsZhFrame,
  'words/zh/login.js': wordsZhLogin,
  'words/zh/shares.js': wordsZhShares,
  'words/zh/uploads.js': wordsZhUploads,
  'words/zh/usage.js': wordsZhUsage,
  'words/zh/videos.js': wordsZhVideos,
}
