/// <reference path="./text-imports.d.ts" />

import baseStyles from '../page/styles/base.css' with { type: 'text' }
import buttonsStyles from '../page/styles/buttons.css' with { type: 'text' }
import cardsStyles from '../page/styles/cards.css' with { type: 'text' }
import dialogStyles from '../page/styles/dialog.css' with { type: 'text' }
import fieldsStyles from '../page/styles/fields.css' with { type: 'text' }
import layoutStyles from '../page/styles/layout.css' with { type: 'text' }
import listsStyles from '../page/styles/lists.css' with { type: 'text' }
import placeholderStyles from '../page/styles/placeholder.css' with { type: 'text' }
import plotStyles from '../page/styles/plot.css' with { type: 'text' }
import accountStyles from '../page/styles/screens/account.css' with { type: 'text' }
import assetsStyles from '../page/styles/screens/assets.css' with { type: 'text' }
import chatStyles from '../page/styles/screens/chat.css' with { type: 'text' }
import faceStyles from '../page/styles/screens/face.css' with { type: 'text' }
import loginStyles from '../page/styles/screens/login.css' with { type: 'text' }
import longStyles from '../page/styles/screens/long.css' with { type: 'text' }
import uploadsStyles from '../page/styles/screens/uploads.css' with { type: 'text' }
import usageStyles from '../page/styles/screens/usage.css' with { type: 'text' }
import videosStyles from '../page/styles/screens/videos.css' with { type: 'text' }
import tabsStyles from '../page/styles/tabs.css' with { type: 'text' }
import themeStyles from '../page/styles/theme.css' with { type: 'text' }
import toastStyles from '../page/styles/toast.css' with { type: 'text' }

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
