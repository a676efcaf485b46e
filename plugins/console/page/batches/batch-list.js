import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { GroupTabs, groupsPath } from '../assets/group.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { MoreAtEnd } from '../lists/more-at-end.js'
import { formatNumber, formatTime, parseTime } from '../words/format.js'
import { doneOf, stateOf } from './progress.js'
import { t } from './words.js'

/** @typedef {import('./batch.js').Batch} Batch */
/** @typedef {{ batches: readonly Batch[], next: string, names: ReadonlyMap<string, string> }} Page */

/** The batches of the user, newest first. */
export const BatchList = () => {
  const api = useApi()
  const loaded = useLoaded((signal) => readPage(api, '', signal), [])
  const [busy, setBusy] = useState(false)
  const { batches, next = '', names } = loaded.value ?? {}
  const more = async () => {
    setBusy(true)
    const page = await readPage(api, next).catch(() => undefined)
    loaded.change((before) => ({
      batches: [...before.batches, ...(page?.batches ?? [])],
      // After a failure the list ends here.
      next: page?.next ?? '',
      names: new Map([...before.names, ...(page?.names ?? [])]),
    }))
    setBusy(false)
  }
  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.groups.batches}</h1>
      <a class="button primary" href=${linkTo('batches', 'new')}><${Icon} name="add" />${t.batches.create}</a>
    </div>
    <p class="lead">${t.batches.lead}</p>
    <${GroupTabs} current="batches" />
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!batches && loaded.busy && html`<${Loading} kind="rows" />`}
    ${batches?.length === 0 && html`<${Empty} icon="upload" title=${t.batches.empty}><p>${t.batches.emptyHint}</p><a class="button primary" href=${linkTo('batches', 'new')}>${t.batches.create}</a><//>`}
    ${
      batches &&
      batches.length > 0 &&
      html`
        <ul class="rows">${batches.map((batch) => html`<${Row} key=${batch.Id} batch=${batch} group=${names?.get(batch.GroupId)} />`)}</ul>
        ${next && html`<${MoreAtEnd} shown=${batches.length} total=${batches.length + 1} busy=${busy} loadMore=${more} />`}
      `
    }
  `
}

/**
 * A page of batches, with the names of their groups, as far as they are known.
 * @param {import('../api/api.js').Api} api
 * @param {string} token
 * @param {AbortSignal} [signal]
 * @returns {Promise<Page>}
 */
const readPage = async (api, token, signal) => {
  const query = new URLSearchParams({ MaxResults: '20', ...(token && { NextToken: token }) })
  const { Result } = await api.requestWithToken(`${paths.batches}?${query}`, { signal })
  /** @type {readonly Batch[]} */
  const batches = Result.Items
  // A group may have been deleted: then the request that names it is refused, and the ids stand for the names.
  const all = new URLSearchParams({ GroupIds: [...new Set(batches.map(({ GroupId }) => GroupId))].join() })
  const groups =
    batches.length === 0 ? [] : await readNames(api, `${groupsPath}?${all}&PageSize=100`, signal).catch(() => [])
  return { batches, next: Result.NextToken, names: new Map(groups) }
}

/**
 * @param {import('../api/api.js').Api} api
 * @param {string} path
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<readonly (readonly [string, string])[]>}
 */
const readNames = async (api, path, signal) => {
  /** @type {readonly import('../assets/group.js').Group[]} */
  const groups = (await api.requestWithToken(path, { signal })).Result?.Items ?? []
  return groups.map(({ Id, Name }) => /** @type {const} */ ([Id, Name || Id]))
}

/** @param {{ batch: Batch, group: string | undefined }} props */
const Row = ({ batch, group }) => {
  const { Id, GroupId, TotalCount, CreateTime } = batch
  const began = parseTime(CreateTime)
  const state = stateOf(batch)
  return html`
    <li>
      <div class="item-text">
        <h2><a href=${linkTo('batches', Id)}>${t.batches.title(TotalCount, formatNumber(TotalCount))}</a></h2>
        <p class="hint">
          <span class=${`badge ${state === 'Running' ? 'Processing' : ''}`}>${t.batches.states[state]}</span>
          <span>${t.batches.progress(formatNumber(doneOf(batch)), formatNumber(TotalCount))}</span>
          <span>${t.batches.group} ${group ?? html`<code>${GroupId}</code>`}</span>
          ${began && html`<span>${t.batches.began} <time datetime=${began.toISOString()}>${formatTime(began)}</time></span>`}
        </p>
      </div>
    </li>
  `
}
