import { html } from '../../controls/html.js'
import { linkToAdmin } from '../parts/query.js'
import { w } from '../words/words.js'
import { AdminBatches } from './batches.js'
import { PendingGroups } from './groups.js'
import { AdminVideos } from './videos.js'

const kinds = /** @type {const} */ (['groups', 'videos', 'batches'])

/**
 * Groups and videos whose outcome is unknown, and batches that an admin may cancel.
 * @param {{ part: string | undefined }} props
 */
export const Decisions = ({ part }) => {
  const current = kinds.find((kind) => kind === part) ?? 'groups'
  return html`
    <div class="heading"><h1 tabindex="-1">${w.sections.decisions}</h1></div>
    ${current !== 'batches' && html`<p class="lead">${w.decisions.lead}</p>`}
    <nav class="tabs" aria-label=${w.sections.decisions}>
      ${kinds.map((kind) => html`<a key=${kind} href=${linkToAdmin(['decisions', kind])} aria-current=${kind === current ? 'page' : undefined}>${w.decisions.tabs[kind]}</a>`)}
    </nav>
    ${current === 'groups' && html`<${PendingGroups} />`}
    ${current === 'videos' && html`<${AdminVideos} />`}
    ${current === 'batches' && html`<${AdminBatches} />`}
  `
}
