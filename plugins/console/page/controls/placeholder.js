import { t } from '../words/words.js'
import { html } from './html.js'
import { Icon } from './icons.js'

/**
 * An error message, which screen readers announce, with a retry button.
 * @param {{ message: string | undefined, retry?: () => void, retryLabel?: string }} props
 */
export const Failure = ({ message, retry, retryLabel = t.retry }) =>
  message &&
  html`
    <div class="failure" role="alert">
      <${Icon} name="alert" />
      <p>${message}</p>
      ${retry && html`<button type="button" class="small" onClick=${retry}>${retryLabel}</button>`}
    </div>
  `

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
