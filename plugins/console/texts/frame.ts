/// <reference path="./text-imports.d.ts" />

import apiApi from '../page/api/api.js' with { type: 'text' }
import apiApiError from '../page/api/api-error.js' with { type: 'text' }
import apiBrowserStore from '../page/api/browser-store.js' with { type: 'text' }
import apiClock from '../page/api/clock.js' with { type: 'text' }
import apiConnection from '../page/api/connection.js' with { type: 'text' }
import apiCredential from '../page/api/credential.js' with { type: 'text' }
import apiEvents from '../page/api/events.js' with { type: 'text' }
import apiIdempotencyKeys from '../page/api/idempotency-keys.js' with { type: 'text' }
import apiPaths from '../page/api/paths.js' with { type: 'text' }
import app from '../page/app.js' with { type: 'text' }
import controlsAdvice from '../page/controls/advice.js' with { type: 'text' }
import controlsCodeBlock from '../page/controls/code-block.js' with { type: 'text' }
import controlsCopyButton from '../page/controls/copy-button.js' with { type: 'text' }
import controlsDialog from '../page/controls/dialog.js' with { type: 'text' }
import controlsField from '../page/controls/field.js' with { type: 'text' }
import controlsHtml from '../page/controls/html.js' with { type: 'text' }
import controlsIcons from '../page/controls/icons.js' with { type: 'text' }
import controlsPlaceholder from '../page/controls/placeholder.js' with { type: 'text' }
import controlsPlot from '../page/controls/plot.js' with { type: 'text' }
import controlsPreview from '../page/controls/preview.js' with { type: 'text' }
import controlsThumbnail from '../page/controls/thumbnail.js' with { type: 'text' }
import controlsToast from '../page/controls/toast.js' with { type: 'text' }
import frameAddresses from '../page/frame/addresses.js' with { type: 'text' }
import frameDownload from '../page/frame/download.js' with { type: 'text' }
import frameHooks from '../page/frame/hooks.js' with { type: 'text' }
import frameLayout from '../page/frame/layout.js' with { type: 'text' }
import frameNotFound from '../page/frame/not-found.js' with { type: 'text' }
import frameRole from '../page/frame/role.js' with { type: 'text' }
import frameRoute from '../page/frame/route.js' with { type: 'text' }
import frameScreens from '../page/frame/screens.js' with { type: 'text' }
import frameSession from '../page/frame/session.js' with { type: 'text' }
import listsAddress from '../page/lists/address.js' with { type: 'text' }
import listsLongList from '../page/lists/long-list.js' with { type: 'text' }
import listsMoreAtEnd from '../page/lists/more-at-end.js' with { type: 'text' }
import listsSearchField from '../page/lists/search-field.js' with { type: 'text' }
import listsVisibleRows from '../page/lists/visible-rows.js' with { type: 'text' }

/** The modules that all screens share, by file name. */
export const frameModules: Readonly<Record<string, string>> = {
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
  'controls/advice.js': controlsAdvice,
  'controls/code-block.js': controlsCodeBlock,
  'controls/copy-button.js': controlsCopyButton,
  'controls/dialog.js': controlsDialog,
  'frame/download.js': frameDownload,
  'controls/field.js': controlsField,
  'controls/html.js': controlsHtml,
  'controls/icons.js': controlsIcons,
  'controls/placeholder.js': controlsPlaceholder,
  'controls/plot.js': controlsPlot,
  'controls/preview.js': controlsPreview,
  'controls/thumbnail.js': controlsThumbnail,
  'controls/toast.js': controlsToast,
  'frame/addresses.js': frameAddresses,
  'frame/hooks.js': frameHooks,
  'frame/layout.js': frameLayout,
  'frame/not-found.js': frameNotFound,
  'frame/role.js': frameRole,
  'frame/route.js': frameRoute,
  'frame/screens.js': frameScreens,
  'frame/session.js': frameSession,
  'lists/address.js': listsAddress,
  'lists/long-list.js': listsLongList,
  'lists/more-at-end.js': listsMoreAtEnd,
  'lists/search-field.js': listsSearchField,
  'lists/visible-rows.js': listsVisibleRows,
}
