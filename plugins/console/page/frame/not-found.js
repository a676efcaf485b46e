import { html } from '../controls/html.js'
import { Empty } from '../controls/placeholder.js'
import { t } from '../words/words.js'
import { linkTo } from './route.js'

/** The page of an address at which there is nothing. */
export const NotFound = () => html`
  <div class="heading"><h1 tabindex="-1">${t.notFound.title}</h1></div>
  <${Empty} icon="alert" title=${t.notFound.title}>
    <p>${t.notFound.hint}</p>
    <a class="button" href=${linkTo('groups')}>${t.groups.toGroups}</a>
  <//>
`
