import { ApiError } from '../api/api-error.js'
import { serverNow, useServerTime } from '../api/clock.js'
import { t } from '../words/words.js'
import { CopyButton } from './copy-button.js'
import { html } from './html.js'
import { Icon } from './icons.js'

/**
 * An error, which screen readers announce, with a retry button. After a 429 the button counts down. The operator finds
 * the request by its id.
 * @param {{ message: string | ApiError | undefined, retry?: () => void, retryLabel?: string }} props
 */
export const Failure = ({ message, retry, retryLabel = t.retry }) => {
  const { retryAt = 0, requestId, status } = message instanceof ApiError ? message : {}
  const wait = useSecondsUntil(status === 429 ? retryAt : 0)
  return (
    message &&
    html`
      <div class="failure" role="alert">
        <${Icon} name="alert" />
        <div>
          <p>${message instanceof ApiError ? message.message : message}</p>
          ${requestId && html`<p class="request-id">${t.errors.requestId} <code>${requestId}</code> <${CopyButton} text=${requestId} label=${t.copy} title=${t.errors.copyRequestId} /></p>`}
          ${wait > 0 && !retry && html`<p role="timer">${t.errors.retryIn(wait)}</p>`}
        </div>
        ${retry && html`<button type="button" class="small" aria-disabled=${wait > 0} onClick=${() => wait > 0 || retry()}>${wait > 0 ? t.errors.retryIn(wait) : retryLabel}</button>`}
      </div>
    `
  )
}

/** The seconds until a time of the server's clock, updated every second. @param {number} time */
const useSecondsUntil = (time) => {
  const now = useServerTime(time > serverNow())
  return Math.max(0, Math.ceil((time - now) / 1000))
}

/**
 * Shown instead of an empty list, with the next step as children.
 * @param {{ icon: import('./icons.js').IconName, title: string, children?: unknown }} props
 */
export const Empty = ({ icon, title, children }) => html`
  <div class="empty">
    <${Icon} name=${icon} />
    <h2>${title}</h2>
    ${children}
  </div>
`

/**
 * A placeholder while a list loads.
 * @param {{ kind: 'rows' | 'cards', count?: number }} props
 */
export const Loading = ({ kind, count = 3 }) => html`
  <div class=${`loading ${kind}`} role="status">
    <span class="visually-hidden">${t.loading}</span>
    ${Array.from({ length: count }, (_, at) => html`<div key=${at} class="skeleton" aria-hidden="true"></div>`)}
  </div>
`
