/**
 * What the user has chosen for this browser. Nothing is stored for what follows the browser or the system.
 * @typedef {{ language?: 'en' | 'zh', theme?: 'light' | 'dark' }} Preferences
 */

const key = 'sluice-preferences'

/** @returns {Preferences} */
const read = () => {
  try {
    const { language, theme } = JSON.parse(localStorage.getItem(key) ?? '{}')
    return {
      ...((language === 'en' || language === 'zh') && { language }),
      ...((theme === 'light' || theme === 'dark') && { theme }),
    }
  } catch {
    // The browser has no storage, or refuses it.
    return {}
  }
}

export const preferences = read()

/** @param {Preferences} changed */
export const setPreferences = (changed) => {
  try {
    localStorage.setItem(key, JSON.stringify(changed))
  } catch {
    // The choice holds until the page is closed.
  }
}

/**
 * Shows the page in the colours of a theme. Undefined: in those of the system.
 * @param {'light' | 'dark' | undefined} theme
 */
export const showTheme = (theme) => {
  const { dataset } = document.documentElement
  if (theme) dataset.theme = theme
  else delete dataset.theme
}
