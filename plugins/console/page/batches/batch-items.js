import { useState } from 'preact/hooks'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { useAction, useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { useAddress } from '../lists/address.js'
import { MoreAtEnd } from '../lists/more-at-end.js'
import { setFrom } from '../lists/search-field.js'
import { formatNumber } from '../words/format.js'
import { language } from '../words/words.js'
import { t } from './words.js'

/** @typedef {import('./batch.js').ItemState} ItemState */
/**
 * @typedef {object} Item
 * @property {number} Position from 1
 * @property {string} Name
 * @property {ItemState} State
 * @property {string} [AssetId]
 * @property {{ Code: string, Message: string, Advice?: { text: Record<'en' | 'zh', string> } }} [Error]
 */
/** @typedef {{ items: readonly Item[], next: string }} Page */
/** @typedef {(position: number) => Promise<void>} Retry */

const pageSize = 100

/**
 * What has become of each item of a batch. It is read again when their number in a state changes.
 * @param {{ batch: import('./batch.js').Batch, path: string, retry?: Retry | undefined }} props `path`: of the batch.
 * `retry`: lets a failed item wait again
 */
export const BatchItems = ({ batch: { Counts: counts }, path, retry }) => {
  const api = useApi()
  const [{ outcome }, setFilters] = useAddress({ outcome: '' })
  const [shown, setShown] = useState(pageSize)
  const [busy, setBusy] = useState(false)

  /** @param {string} token @param {AbortSignal} [signal] @returns {Promise<Page>} */
  const readPage = async (token, signal) => {
    const query = new URLSearchParams({ MaxResults: String(pageSize) })
    if (token) query.set('NextToken', token)
    if (outcome) query.set('State', outcome)
    const { Result } = await api.requestWithToken(`${path}/items?${query}`, { signal })
    return { items: Result.Items, next: Result.NextToken }
  }
  const loaded = useLoaded(
    async (signal) => {
      let page = await readPage('', signal)
      while (page.next && page.items.length < shown) {
        const { items, next } = await readPage(page.next, signal)
        page = { items: [...page.items, ...items], next }
      }
      return page
    },
    [path, outcome, JSON.stringify(counts)],
  )
  const more = async () => {
    setBusy(true)
    const page = await readPage(loaded.value?.next ?? '').catch(() => undefined)
    // After a failure the list ends here.
    loaded.change(({ items }) => ({ items: [...items, ...(page?.items ?? [])], next: page?.next ?? '' }))
    setShown((before) => before + pageSize)
    setBusy(false)
  }
  const { items, next = '' } = loaded.value ?? {}
  const total = outcome
    ? counts[/** @type {ItemState} */ (outcome)]
    : Object.values(counts).reduce((sum, one) => sum + one, 0)
  /** @type {readonly (readonly [string, string])[]} */
  const choices = [
    ['', t.batches.anyOutcome],
    ...Object.entries(t.batches.outcomes).map(
      ([state, text]) =>
        /** @type {const} */ ([state, `${text} (${formatNumber(counts[/** @type {ItemState} */ (state)])})`]),
    ),
  ]
  return html`
    <section>
      <div class="heading">
        <h2>${t.batches.items}</h2>
        <${Select} label=${t.batches.outcome} value=${outcome} choices=${choices} onChange=${setFrom((outcome) => setFilters({ outcome }))} />
      </div>
      <${Failure} message=${loaded.error} retry=${loaded.reload} />
      ${!items && loaded.busy && html`<${Loading} kind="rows" />`}
      ${items?.length === 0 && html`<${Empty} icon="picture" title=${t.batches.noneWith} />`}
      ${
        items &&
        items.length > 0 &&
        html`
          <ol class="rows batch-items">${items.map((item) => html`<${Row} key=${item.Position} item=${item} retry=${retry} />`)}</ol>
          <${MoreAtEnd} shown=${items.length} total=${next ? Math.max(total, items.length + 1) : items.length} busy=${busy} loadMore=${more} />
        `
      }
    </section>
  `
}

/** Which badge a state has. @type {Partial<Record<ItemState, string>>} */
const badges = { Created: 'Active', Failed: 'Failed', Unknown: 'Processing' }

/** @param {{ item: Item, retry: Retry | undefined }} props */
const Row = ({ item: { Position, Name, State, AssetId, Error: error }, retry }) => {
  const retrying = useAction(async () => retry?.(Position))
  return html`
    <li>
      <div class="item-text">
        <p class="name">${AssetId === undefined ? Name : html`<a href=${linkTo('asset', AssetId)}>${Name}</a>`}</p>
        ${error && html`<${Reason} error=${error} />`}
        <${Failure} message=${retrying.error} />
      </div>
      <div class="actions">
        <span class=${`badge ${badges[State] ?? ''}`}>${t.batches.outcomes[State]}</span>
        ${retry && State === 'Failed' && html`<button type="button" class="small" aria-disabled=${retrying.busy} aria-label=${t.batches.retryOf(Name)} onClick=${() => retrying.run()}>${t.retry}</button>`}
      </div>
    </li>
  `
}

/** @param {{ error: NonNullable<Item['Error']> }} props */
const Reason = ({ error: { Code, Message, Advice } }) => {
  const known = /** @type {Record<string, string>} */ (t.batches.failures)[Code]
  return html`
    <p>${Advice?.text[language] ?? known ?? t.batches.otherFailure}</p>
    <details><summary>${t.reported}</summary><p class="hint">${Message} <code>${Code}</code></p></details>
  `
}
