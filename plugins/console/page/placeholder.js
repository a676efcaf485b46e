import { html } from './html.js'
import { Icon } from './icons.js'
import { t } from './strings.js'

/**
 * What went wrong, read out when it appears; and how to go on.
 * @param {{ message: string | undefined, retry?: () => void }} props
 */
export const Failure = ({ message, retry }) =>
  message &&
  html`
    <div class="failure" role="alert">
      <${Icon} name="alert" />
      <p>${message}</p>
      ${retry && html`<button type="button" class="small" onClick=${retry}>${t.again}</button>`}
    </div>
  `

/**
 * Nothing is there, and what to do about it.
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
 * The place of something that is on its way.
 * @param {{ kind: 'rows' | 'cards', count?: number }} props
 */
export const Loading = ({ kind, count = 3 }) => html`
  <div class=${`loading ${kind}`} role="status">
    <span class="unseen">${t.loading}</span>
    ${Array.from({ length: count }, (_, at) => html`<div key=${at} class="ghost" aria-hidden="true"></div>`)}
  </div>
`

/**
 * How much of a list is shown, and the way to more of it.
 * @param {{ shown: number, total: number, next: string, busy: boolean, more: () => void }} props
 */
export const More = ({ shown, total, next, busy, more }) => html`
  <div class="more">
    <p>${t.shown(shown, total)}</p>
    ${next && html`<button type="button" aria-disabled=${busy} onClick=${() => busy || more()}>${t.more}</button>`}
  </div>
`
