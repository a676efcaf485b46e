import { html } from '../../controls/html.js'
import { limitText } from './limit.js'

/**
 * Limits in words.
 * @param {{ limits: readonly import('./limit.js').Limit[] }} props
 */
export const LimitList = ({ limits }) => html`
  <ul class="limit-list">
    ${limits.map((limit) => html`<li key=${JSON.stringify(limit)}>${limitText(limit)}</li>`)}
  </ul>
`
