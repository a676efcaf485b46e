/// <reference path="./text-imports.d.ts" />

import htmLibrary from '../../node_modules/htm/dist/htm.mjs' with { type: 'text' }
import markedLibrary from '../../node_modules/marked/lib/marked.esm.js' with { type: 'text' }
import preactLibrary from '../../node_modules/preact/dist/preact.mjs' with { type: 'text' }
import preactHooksLibrary from '../../node_modules/preact/hooks/dist/hooks.mjs' with { type: 'text' }
// @ts-expect-error: the module has types, and they are not those of its text.
// biome-ignore lint/correctness/useImportExtensions: the file has this name.
import uqrLibrary from '../../node_modules/uqr/dist/index.mjs' with { type: 'text' }
import { adminModules } from './admin-texts.ts'
import accountAccess from './page/account/access.js' with { type: 'text' }
import accountStyles from './page/account/account.css' with { type: 'text' }
import accountAccount from './page/account/account.js' with { type: 'text' }
import accountConnect from './page/account/connect.js' with { type: 'text' }
import accountInvitation from './page/account/invitation.js' with { type: 'text' }
import loginStyles from './page/account/login.css' with { type: 'text' }
import accountLogin from './page/account/login.js' with { type: 'text' }
import accountPrograms from './page/account/programs.js' with { type: 'text' }
import accountSessions from './page/account/sessions.js' with { type: 'text' }
import accountTokenForm from './page/account/token-form.js' with { type: 'text' }
import accountTokens from './page/account/tokens.js' with { type: 'text' }
import accountWebhooks from './page/account/webhooks.js' with { type: 'text' }
import accountWords from './page/account/words.js' with { type: 'text' }
import apiApi from './page/api/api.js' with { type: 'text' }
import apiApiError from './page/api/api-error.js' with { type: 'text' }
import apiBrowserStore from './page/api/browser-store.js' with { type: 'text' }
import apiClock from './page/api/clock.js' with { type: 'text' }
import apiConnection from './page/api/connection.js' with { type: 'text' }
import apiCredential from './page/api/credential.js' with { type: 'text' }
import apiEvents from './page/api/events.js' with { type: 'text' }
import apiIdempotencyKeys from './page/api/idempotency-keys.js' with { type: 'text' }
import apiPaths from './page/api/paths.js' with { type: 'text' }
import app from './page/app.js' with { type: 'text' }
import assetsAsset from './page/assets/asset.js' with { type: 'text' }
import assetsAssetList from './page/assets/asset-list.js' with { type: 'text' }
import assetsAssetPage from './page/assets/asset-page.js' with { type: 'text' }
import assetsAssetPicker from './page/assets/asset-picker.js' with { type: 'text' }
import assetsAssetScreen from './page/assets/asset-screen.js' with { type: 'text' }
import assetsAssetWatch from './page/assets/asset-watch.js' with { type: 'text' }
import assetsStyles from './page/assets/assets.css' with { type: 'text' }
import assetsAssets from './page/assets/assets.js' with { type: 'text' }
import assetsCode from './page/assets/code.js' with { type: 'text' }
import assetsGroup from './page/assets/group.js' with { type: 'text' }
import assetsGroups from './page/assets/groups.js' with { type: 'text' }
import assetsSelection from './page/assets/selection.js' with { type: 'text' }
import chatStyles from './page/chat/chat.css' with { type: 'text' }
import chatChat from './page/chat/chat.js' with { type: 'text' }
import chatComposer from './page/chat/composer.js' with { type: 'text' }
import chatConversation from './page/chat/conversation.js' with { type: 'text' }
import chatHistory from './page/chat/history.js' with { type: 'text' }
import chatMarkdown from './page/chat/markdown.js' with { type: 'text' }
import chatMarkdownView from './page/chat/markdown-view.js' with { type: 'text' }
import chatMessage from './page/chat/message.js' with { type: 'text' }
import chatPacedUpdates from './page/chat/paced-updates.js' with { type: 'text' }
import chatStream from './page/chat/stream.js' with { type: 'text' }
import controlsAdvice from './page/controls/advice.js' with { type: 'text' }
import controlsCodeBlock from './page/controls/code-block.js' with { type: 'text' }
import controlsCopyButton from './page/controls/copy-button.js' with { type: 'text' }
import controlsDialog from './page/controls/dialog.js' with { type: 'text' }
import controlsField from './page/controls/field.js' with { type: 'text' }
import controlsHtml from './page/controls/html.js' with { type: 'text' }
import controlsIcons from './page/controls/icons.js' with { type: 'text' }
import controlsPlaceholder from './page/controls/placeholder.js' with { type: 'text' }
import controlsPlot from './page/controls/plot.js' with { type: 'text' }
import controlsPreview from './page/controls/preview.js' with { type: 'text' }
import controlsThumbnail from './page/controls/thumbnail.js' with { type: 'text' }
import controlsToast from './page/controls/toast.js' with { type: 'text' }
import faceStyles from './page/face/face.css' with { type: 'text' }
import faceFace from './page/face/face.js' with { type: 'text' }
import faceQrCode from './page/face/qr-code.js' with { type: 'text' }
import faceVerification from './page/face/verification.js' with { type: 'text' }
import frameHooks from './page/frame/hooks.js' with { type: 'text' }
import frameLayout from './page/frame/layout.js' with { type: 'text' }
import frameRole from './page/frame/role.js' with { type: 'text' }
import frameRoute from './page/frame/route.js' with { type: 'text' }
import frameScreens from './page/frame/screens.js' with { type: 'text' }
import frameSession from './page/frame/session.js' with { type: 'text' }
import listsAddress from './page/lists/address.js' with { type: 'text' }
import longStyles from './page/lists/long.css' with { type: 'text' }
import listsLongList from './page/lists/long-list.js' with { type: 'text' }
import listsMoreAtEnd from './page/lists/more-at-end.js' with { type: 'text' }
import listsSearchField from './page/lists/search-field.js' with { type: 'text' }
import listsVisibleRows from './page/lists/visible-rows.js' with { type: 'text' }
import baseStyles from './page/styles/base.css' with { type: 'text' }
import buttonsStyles from './page/styles/buttons.css' with { type: 'text' }
import cardsStyles from './page/styles/cards.css' with { type: 'text' }
import dialogStyles from './page/styles/dialog.css' with { type: 'text' }
import fieldsStyles from './page/styles/fields.css' with { type: 'text' }
import layoutStyles from './page/styles/layout.css' with { type: 'text' }
import listsStyles from './page/styles/lists.css' with { type: 'text' }
import placeholderStyles from './page/styles/placeholder.css' with { type: 'text' }
import plotStyles from './page/styles/plot.css' with { type: 'text' }
import tabsStyles from './page/styles/tabs.css' with { type: 'text' }
import themeStyles from './page/styles/theme.css' with { type: 'text' }
import toastStyles from './page/styles/toast.css' with { type: 'text' }
import uploadsDroppedFiles from './page/uploads/dropped-files.js' with { type: 'text' }
import uploadsUploadFile from './page/uploads/upload-file.js' with { type: 'text' }
import uploadsUploadList from './page/uploads/upload-list.js' with { type: 'text' }
import uploadsStyles from './page/uploads/uploads.css' with { type: 'text' }
import uploadsUploads from './page/uploads/uploads.js' with { type: 'text' }
import usageBreakdown from './page/usage/breakdown.js' with { type: 'text' }
import usageCsv from './page/usage/csv.js' with { type: 'text' }
import usageKind from './page/usage/kind.js' with { type: 'text' }
import usageLimits from './page/usage/limits.js' with { type: 'text' }
import usageRange from './page/usage/range.js' with { type: 'text' }
import usageReport from './page/usage/report.js' with { type: 'text' }
import usageStyles from './page/usage/usage.css' with { type: 'text' }
import usageUsage from './page/usage/usage.js' with { type: 'text' }
import usageWords from './page/usage/words.js' with { type: 'text' }
import videosSaveResult from './page/videos/save-result.js' with { type: 'text' }
import videosTriedModels from './page/videos/tried-models.js' with { type: 'text' }
import videosVideoDetail from './page/videos/video-detail.js' with { type: 'text' }
import videosVideoEstimate from './page/videos/video-estimate.js' with { type: 'text' }
import videosVideoFields from './page/videos/video-fields.js' with { type: 'text' }
import videosVideoForm from './page/videos/video-form.js' with { type: 'text' }
import videosVideoInputs from './page/videos/video-inputs.js' with { type: 'text' }
import videosVideoList from './page/videos/video-list.js' with { type: 'text' }
import videosVideoModels from './page/videos/video-models.js' with { type: 'text' }
import videosVideoRequest from './page/videos/video-request.js' with { type: 'text' }
import videosVideoScreen from './page/videos/video-screen.js' with { type: 'text' }
import videosVideoTask from './page/videos/video-task.js' with { type: 'text' }
import videosStyles from './page/videos/videos.css' with { type: 'text' }
import videosVideos from './page/videos/videos.js' with { type: 'text' }
import type { PageTexts } from './page-texts.ts'
import { wordModules } from './word-texts.ts'

// Imported, not read: a bundler takes imports along, and on Deno they need no permission. Another file of the page
// needs two lines here.

/** The modules of the page, and the libraries that they import, by file name. */
const modules: Readonly<Record<string, string>> = {
  'account/access.js': accountAccess,
  'account/account.js': accountAccount,
  'account/connect.js': accountConnect,
  'account/invitation.js': accountInvitation,
  'account/login.js': accountLogin,
  'account/programs.js': accountPrograms,
  'account/sessions.js': accountSessions,
  'account/token-form.js': accountTokenForm,
  'account/tokens.js': accountTokens,
  'account/webhooks.js': accountWebhooks,
  'account/words.js': accountWords,
  'api/api-error.js': apiApiError,
  'api/api.js': apiApi,
  'api/browser-store.js': apiBrowserStore,
  'api/clock.js': apiClock,
  'api/connection.js': apiConnection,
  'api/credential.js': apiCredential,
  'api/events.js': apiEvents,
  'api/idempotency-keys.js': apiIdempotencyKeys,
  'api/paths.js': apiPaths,
  'app.js': app,
  'assets/asset-list.js': assetsAssetList,
  'assets/asset-page.js': assetsAssetPage,
  'assets/asset-picker.js': assetsAssetPicker,
  'assets/asset-screen.js': assetsAssetScreen,
  'assets/asset-watch.js': assetsAssetWatch,
  'assets/asset.js': assetsAsset,
  'assets/assets.js': assetsAssets,
  'assets/code.js': assetsCode,
  'assets/group.js': assetsGroup,
  'assets/groups.js': assetsGroups,
  'assets/selection.js': assetsSelection,
  'chat/chat.js': chatChat,
  'chat/composer.js': chatComposer,
  'chat/conversation.js': chatConversation,
  'chat/history.js': chatHistory,
  'chat/markdown-view.js': chatMarkdownView,
  'chat/markdown.js': chatMarkdown,
  'chat/message.js': chatMessage,
  'chat/paced-updates.js': chatPacedUpdates,
  'chat/stream.js': chatStream,
  'controls/advice.js': controlsAdvice,
  'controls/code-block.js': controlsCodeBlock,
  'controls/copy-button.js': controlsCopyButton,
  'controls/dialog.js': controlsDialog,
  'controls/field.js': controlsField,
  'controls/html.js': controlsHtml,
  'controls/icons.js': controlsIcons,
  'controls/placeholder.js': controlsPlaceholder,
  'controls/plot.js': controlsPlot,
  'controls/preview.js': controlsPreview,
  'controls/thumbnail.js': controlsThumbnail,
  'controls/toast.js': controlsToast,
  'face/face.js': faceFace,
  'face/qr-code.js': faceQrCode,
  'face/verification.js': faceVerification,
  'frame/hooks.js': frameHooks,
  'frame/layout.js': frameLayout,
  'frame/role.js': frameRole,
  'frame/route.js': frameRoute,
  'frame/screens.js': frameScreens,
  'frame/session.js': frameSession,
  'lists/address.js': listsAddress,
  'lists/long-list.js': listsLongList,
  'lists/more-at-end.js': listsMoreAtEnd,
  'lists/search-field.js': listsSearchField,
  'lists/visible-rows.js': listsVisibleRows,
  'uploads/dropped-files.js': uploadsDroppedFiles,
  'uploads/upload-file.js': uploadsUploadFile,
  'uploads/upload-list.js': uploadsUploadList,
  'uploads/uploads.js': uploadsUploads,
  'usage/breakdown.js': usageBreakdown,
  'usage/csv.js': usageCsv,
  'usage/kind.js': usageKind,
  'usage/limits.js': usageLimits,
  'usage/range.js': usageRange,
  'usage/report.js': usageReport,
  'usage/usage.js': usageUsage,
  'usage/words.js': usageWords,
  'videos/save-result.js': videosSaveResult,
  'videos/tried-models.js': videosTriedModels,
  'videos/video-detail.js': videosVideoDetail,
  'videos/video-estimate.js': videosVideoEstimate,
  'videos/video-fields.js': videosVideoFields,
  'videos/video-form.js': videosVideoForm,
  'videos/video-inputs.js': videosVideoInputs,
  'videos/video-list.js': videosVideoList,
  'videos/video-models.js': videosVideoModels,
  'videos/video-request.js': videosVideoRequest,
  'videos/video-screen.js': videosVideoScreen,
  'videos/video-task.js': videosVideoTask,
  'videos/videos.js': videosVideos,
  ...adminModules,
  ...wordModules,
  'preact.js': preactLibrary,
  'preact-hooks.js': preactHooksLibrary,
  'htm.js': htmLibrary,
  'uqr.js': uqrLibrary,
  'marked.js': markedLibrary,
}

/** Bare module specifiers that the page imports, and the names of the libraries' files. */
const libraries: Readonly<Record<string, string>> = {
  preact: 'preact.js',
  'preact/hooks': 'preact-hooks.js',
  htm: 'htm.js',
  uqr: 'uqr.js',
  marked: 'marked.js',
}

/**
 * The style sheets, in the order of the cascade: a later one overrides rules of an earlier one with the same
 * specificity.
 */
const styleSheets: readonly string[] = [
  themeStyles,
  baseStyles,
  layoutStyles,
  buttonsStyles,
  fieldsStyles,
  tabsStyles,
  listsStyles,
  cardsStyles,
  placeholderStyles,
  plotStyles,
  toastStyles,
  dialogStyles,
  loginStyles,
  accountStyles,
  faceStyles,
  uploadsStyles,
  videosStyles,
  chatStyles,
  assetsStyles,
  longStyles,
  usageStyles,
]

/** Modules that the browser does not preload, because few visits need them. */
const notPreloaded: ReadonlySet<string> = new Set(['uqr.js', 'marked.js'])

/** The page as its files are. */
export const plainPage: PageTexts = {
  files: { ...modules, 'style.css': styleSheets.join('\n') },
  script: 'app.js',
  styles: 'style.css',
  preloaded: Object.keys(modules).filter((name) => !notPreloaded.has(name) && !name.startsWith('admin/')),
  libraries,
  hashed: false,
}
