import { useState } from 'preact/hooks'
import { html } from '../controls/html.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { MoreAtEnd } from '../lists/more-at-end.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from './words.js'

/** @typedef {import('./consent.js').Use} Use */
/** @typedef {{ Items: readonly Use[], NextToken: string, TotalCount: number }} Page */

const pageSize = '50'

/**
 * The videos for which a face was used, newest first.
 * @param {{ path: string, user: string }} props `path`: of the consent. `user`: id of the present user
 */
export const ConsentUses = ({ path, user }) => {
  const api = useApi()
  const readPage = async (/** @type {string} */ token, /** @type {AbortSignal | undefined} */ signal = undefined) => {
    const query = new URLSearchParams({ MaxResults: pageSize, ...(token && { NextToken: token }) })
    return /** @type {Page} */ ((await api.requestWithToken(`${path}/uses?${query}`, { signal })).Result)
  }
  const loaded = useLoaded((signal) => readPage('', signal), [path])
  const [busy, setBusy] = useState(false)
  const page = loaded.value
  const more = async () => {
    setBusy(true)
    const next = await readPage(page?.NextToken ?? '').catch(() => undefined)
    // After a failure the list ends here.
    loaded.change((before) => ({
      ...before,
      ...next,
      Items: [...before.Items, ...(next?.Items ?? [])],
      NextToken: next?.NextToken ?? '',
    }))
    setBusy(false)
  }
  return html`
    <section>
      <h2>${t.consents.uses}</h2>
      <p class="lead">${t.consents.usesLead}</p>
      <${Failure} message=${loaded.error} retry=${loaded.reload} />
      ${!page && loaded.busy && html`<${Loading} kind="rows" />`}
      ${page?.Items.length === 0 && html`<p class="hint">${t.consents.noUses}</p>`}
      ${
        page &&
        page.Items.length > 0 &&
        html`
          <ul class="rows">${page.Items.map((use) => html`<${Row} key=${use.TaskId} use=${use} isOwn=${use.User === user} />`)}</ul>
          <${MoreAtEnd} shown=${page.Items.length} total=${page.NextToken ? Math.max(page.TotalCount, page.Items.length + 1) : page.Items.length} busy=${busy} loadMore=${more} />
        `
      }
    </section>
  `
}

/** @param {{ use: Use, isOwn: boolean }} props `isOwn`: not of a borrower, whose videos nobody else sees */
const Row = ({ use: { TaskId, User, UseTime, Status, Result }, isOwn }) => {
  const time = parseTime(UseTime)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${isOwn && Result !== 'removed' ? html`<a href=${linkTo('videos', TaskId)}><code>${TaskId}</code></a>` : html`<code>${TaskId}</code>`}</p>
        <p class="hint">
          ${time && html`<time datetime=${time.toISOString()}>${formatTime(time)}</time>`}
          ${!isOwn && html`<span>${t.consents.byUser(User)}</span>`}
          <span>${t.consents.results[Result]}</span>
        </p>
      </div>
      ${Status && html`<span class=${`badge ${Status}`}>${t.videos.states[/** @type {keyof typeof t.videos.states} */ (Status)] ?? Status}</span>`}
    </li>
  `
}
