import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { useLoaded } from '../../frame/hooks.js'
import { useAdminApi } from '../parts/admin-api.js'

/** @typedef {{ zone: string, userLimits: readonly import('./limit.js').Limit[] | undefined }} LimitSettings */

const LimitSettingsContext = createContext(/** @type {LimitSettings} */ ({ zone: 'UTC', userLimits: undefined }))

/** The time zone of limits, and the limits of every user. */
export const useLimitSettings = () => useContext(LimitSettingsContext)

/**
 * Reads the settings that forms of limits explain.
 * @param {{ children?: unknown }} props
 */
export const LimitSettings = ({ children }) => {
  const admin = useAdminApi()
  const loaded = useLoaded(async (signal) => {
    const { settings } = await admin.read('/settings', {}, signal)
    return { zone: zoneOf(settings.LIMITS_TIME_ZONE), userLimits: listOf(settings.USER_LIMITS) }
  }, [])
  const { zone = 'UTC', userLimits } = loaded.value ?? {}
  return html`<${LimitSettingsContext.Provider} value=${{ zone, userLimits }}>${children}<//>`
}

/**
 * A zone that the browser knows.
 * @param {unknown} name
 */
const zoneOf = (name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: String(name) }).resolvedOptions().timeZone && String(name)
  } catch {
    return 'UTC'
  }
}

/**
 * A setting as it is shown: JSON, or its text.
 * @param {unknown} value
 * @returns {readonly import('./limit.js').Limit[]}
 */
const listOf = (value) => {
  try {
    const list = typeof value === 'string' ? JSON.parse(value) : value
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
