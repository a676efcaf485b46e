import { html } from '../controls/html.js'
import { linkTo } from '../frame/route.js'
import { Connect } from './connect.js'
import { Tokens } from './tokens.js'
import { Webhooks } from './webhooks.js'
import { t } from './words.js'

const parts = /** @type {const} */ ([
  { part: undefined, title: t.tokens.title, Part: Tokens },
  { part: 'connect', title: t.connect.title, Part: Connect },
  { part: 'webhooks', title: t.webhooks.tab, Part: Webhooks },
])

/**
 * The user's access for programs: API tokens, how programs connect, and webhooks.
 * @param {{ part: string | undefined }} props
 */
export const Access = ({ part }) => {
  const shown = parts.find((one) => one.part === part) ?? parts[0]
  return html`
    <div class="heading"><h1 tabindex="-1">${shown.title}</h1></div>
    <nav class="tabs" aria-label=${t.tokens.sections}>
      ${parts.map((one) => html`<a key=${one.title} href=${linkTo('tokens', ...(one.part ? [one.part] : []))} aria-current=${one === shown ? 'true' : undefined}>${one.title}</a>`)}
    </nav>
    <${shown.Part} />
  `
}
