/// <reference path="./text-imports.d.ts" />

import htmLibrary from '../../node_modules/htm/dist/htm.mjs' with { type: 'text' }
import preactLibrary from '../../node_modules/preact/dist/preact.mjs' with { type: 'text' }
import preactHooksLibrary from '../../node_modules/preact/hooks/dist/hooks.mjs' with { type: 'text' }
// @ts-expect-error: the module has types, and they are not those of its text.
// biome-ignore lint/correctness/useImportExtensions: the file has this name.
import uqrLibrary from '../../node_modules/uqr/dist/index.mjs' with { type: 'text' }
import api from './page/api.js' with { type: 'text' }
import apiError from './page/api-error.js' with { type: 'text' }
import app from './page/app.js' with { type: 'text' }
import asset from './page/asset.js' with { type: 'text' }
import assetPicker from './page/asset-picker.js' with { type: 'text' }
import assetWatch from './page/asset-watch.js' with { type: 'text' }
import assets from './page/assets.js' with { type: 'text' }
import chat from './page/chat.js' with { type: 'text' }
import clock from './page/clock.js' with { type: 'text' }
import conversation from './page/conversation.js' with { type: 'text' }
import copyButton from './page/copy-button.js' with { type: 'text' }
import credential from './page/credential.js' with { type: 'text' }
import dialog from './page/dialog.js' with { type: 'text' }
import droppedFiles from './page/dropped-files.js' with { type: 'text' }
import events from './page/events.js' with { type: 'text' }
import face from './page/face.js' with { type: 'text' }
import field from './page/field.js' with { type: 'text' }
import format from './page/format.js' with { type: 'text' }
import group from './page/group.js' with { type: 'text' }
import groups from './page/groups.js' with { type: 'text' }
import hooks from './page/hooks.js' with { type: 'text' }
import html from './page/html.js' with { type: 'text' }
import icons from './page/icons.js' with { type: 'text' }
import idempotencyKeys from './page/idempotency-keys.js' with { type: 'text' }
import invitation from './page/invitation.js' with { type: 'text' }
import login from './page/login.js' with { type: 'text' }
import pages from './page/pages.js' with { type: 'text' }
import paths from './page/paths.js' with { type: 'text' }
import placeholder from './page/placeholder.js' with { type: 'text' }
import preview from './page/preview.js' with { type: 'text' }
import qrCode from './page/qr-code.js' with { type: 'text' }
import route from './page/route.js' with { type: 'text' }
import saveResult from './page/save-result.js' with { type: 'text' }
import session from './page/session.js' with { type: 'text' }
import stream from './page/stream.js' with { type: 'text' }
import strings from './page/strings.js' with { type: 'text' }
import stringsMedia from './page/strings-media.js' with { type: 'text' }
import stringsMediaZh from './page/strings-media-zh.js' with { type: 'text' }
import stringsZh from './page/strings-zh.js' with { type: 'text' }
import baseStyles from './page/styles/base.css' with { type: 'text' }
import buttonsStyles from './page/styles/buttons.css' with { type: 'text' }
import cardsStyles from './page/styles/cards.css' with { type: 'text' }
import chatStyles from './page/styles/chat.css' with { type: 'text' }
import dialogStyles from './page/styles/dialog.css' with { type: 'text' }
import faceStyles from './page/styles/face.css' with { type: 'text' }
import fieldsStyles from './page/styles/fields.css' with { type: 'text' }
import layoutStyles from './page/styles/layout.css' with { type: 'text' }
import listsStyles from './page/styles/lists.css' with { type: 'text' }
import loginStyles from './page/styles/login.css' with { type: 'text' }
import placeholderStyles from './page/styles/placeholder.css' with { type: 'text' }
import tabsStyles from './page/styles/tabs.css' with { type: 'text' }
import themeStyles from './page/styles/theme.css' with { type: 'text' }
import toastStyles from './page/styles/toast.css' with { type: 'text' }
import uploadsStyles from './page/styles/uploads.css' with { type: 'text' }
import usageStyles from './page/styles/usage.css' with { type: 'text' }
import videosStyles from './page/styles/videos.css' with { type: 'text' }
import thumbnail from './page/thumbnail.js' with { type: 'text' }
import toast from './page/toast.js' with { type: 'text' }
import tokens from './page/tokens.js' with { type: 'text' }
import uploadFile from './page/upload-file.js' with { type: 'text' }
import uploadList from './page/upload-list.js' with { type: 'text' }
import uploads from './page/uploads.js' with { type: 'text' }
import usage from './page/usage.js' with { type: 'text' }
import verification from './page/verification.js' with { type: 'text' }
import videoDetail from './page/video-detail.js' with { type: 'text' }
import videoFields from './page/video-fields.js' with { type: 'text' }
import videoForm from './page/video-form.js' with { type: 'text' }
import videoInputs from './page/video-inputs.js' with { type: 'text' }
import videoList from './page/video-list.js' with { type: 'text' }
import videoModels from './page/video-models.js' with { type: 'text' }
import videoRequest from './page/video-request.js' with { type: 'text' }
import videoScreen from './page/video-screen.js' with { type: 'text' }
import videoTask from './page/video-task.js' with { type: 'text' }
import videos from './page/videos.js' with { type: 'text' }
import webhooks from './page/webhooks.js' with { type: 'text' }

// Imported, not read: a bundler takes imports along, and on Deno they need no permission.

/**
 * The modules of the page, and the libraries that they import, by file name. `bun run build` copies the libraries into
 * the package.
 */
export const modules: Readonly<Record<string, string>> = {
  'api-error.js': apiError,
  'api.js': api,
  'app.js': app,
  'asset-picker.js': assetPicker,
  'asset-watch.js': assetWatch,
  'asset.js': asset,
  'assets.js': assets,
  'chat.js': chat,
  'clock.js': clock,
  'conversation.js': conversation,
  'copy-button.js': copyButton,
  'credential.js': credential,
  'dialog.js': dialog,
  'dropped-files.js': droppedFiles,
  'events.js': events,
  'face.js': face,
  'field.js': field,
  'format.js': format,
  'group.js': group,
  'groups.js': groups,
  'hooks.js': hooks,
  'html.js': html,
  'icons.js': icons,
  'idempotency-keys.js': idempotencyKeys,
  'invitation.js': invitation,
  'login.js': login,
  'pages.js': pages,
  'paths.js': paths,
  'placeholder.js': placeholder,
  'preview.js': preview,
  'qr-code.js': qrCode,
  'route.js': route,
  'save-result.js': saveResult,
  'session.js': session,
  'stream.js': stream,
  'strings-media-zh.js': stringsMediaZh,
  'strings-media.js': stringsMedia,
  'strings-zh.js': stringsZh,
  'strings.js': strings,
  'thumbnail.js': thumbnail,
  'toast.js': toast,
  'tokens.js': tokens,
  'upload-file.js': uploadFile,
  'upload-list.js': uploadList,
  'uploads.js': uploads,
  'usage.js': usage,
  'verification.js': verification,
  'video-detail.js': videoDetail,
  'video-fields.js': videoFields,
  'video-form.js': videoForm,
  'video-inputs.js': videoInputs,
  'video-list.js': videoList,
  'video-models.js': videoModels,
  'video-request.js': videoRequest,
  'video-screen.js': videoScreen,
  'video-task.js': videoTask,
  'videos.js': videos,
  'webhooks.js': webhooks,
  'preact.js': preactLibrary,
  'preact-hooks.js': preactHooksLibrary,
  'htm.js': htmLibrary,
  'uqr.js': uqrLibrary,
}

/**
 * The style sheets, in the order of the cascade: a later one overrides rules of an earlier one with the same
 * specificity.
 */
export const styleSheets: readonly string[] = [
  themeStyles,
  baseStyles,
  layoutStyles,
  buttonsStyles,
  fieldsStyles,
  tabsStyles,
  listsStyles,
  cardsStyles,
  placeholderStyles,
  toastStyles,
  dialogStyles,
  loginStyles,
  faceStyles,
  uploadsStyles,
  videosStyles,
  chatStyles,
  usageStyles,
]
