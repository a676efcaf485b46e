import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { useLoaded } from '../../frame/hooks.js'
import { w } from '../words/words.js'
import { useAdminApi } from './admin-api.js'

/**
 * A list of the admin API, one page at a time: each page names the place where the next one begins. Changed parameters
 * begin with the first page.
 * @template Item
 * @param {string} path
 * @param {string} name the member of the response with the items
 * @param {import('./admin-api.js').Query} [query]
 */
export const useList = (path, name, query = {}) => {
  const admin = useAdminApi()
  const filter = JSON.stringify([path, query])
  const [place, setPlace] = useState(
    /** @type {{ filter: string, cursors: readonly string[] }} */ ({ filter, cursors: [] }),
  )
  const cursors = place.filter === filter ? place.cursors : []
  const cursor = cursors.at(-1)
  const loaded = useLoaded(
    async (signal) => {
      let page = await admin.read(path, { ...query, cursor }, signal)
      // Of a long list, the server looks through a part for each page, in which there may be nothing.
      while (page[name].length === 0 && page.next_cursor)
        page = await admin.read(path, { ...query, cursor: page.next_cursor }, signal)
      return {
        place: placeOf(filter, cursor),
        items: /** @type {readonly Item[]} */ (page[name]),
        next: /** @type {string | null} */ (page.next_cursor),
      }
    },
    [filter, cursor],
  )
  const next = loaded.value?.next
  // With another filter or cursor, the page of before stays until the new one is there, and has no next page.
  const isStale = loaded.value !== undefined && loaded.value.place !== placeOf(filter, cursor)
  return {
    items: loaded.value?.items,
    error: loaded.error,
    busy: loaded.busy || (isStale && !loaded.error),
    reload: loaded.reload,
    /** @param {(items: readonly Item[]) => readonly Item[]} change */
    change: (change) => loaded.change((page) => ({ ...page, items: change(page.items) })),
    /** Number of the page, from 1. */
    number: cursors.length + 1,
    goForward: next ? () => setPlace({ filter, cursors: [...cursors, next] }) : undefined,
    goBack: cursors.length > 0 ? () => setPlace({ filter, cursors: cursors.slice(0, -1) }) : undefined,
  }
}

/**
 * @param {string} filter
 * @param {string | undefined} cursor
 */
const placeOf = (filter, cursor) => JSON.stringify([filter, cursor])

/**
 * The pages of a list. Nothing when there is one page only.
 * @param {{ list: Pick<ReturnType<typeof useList>, 'number' | 'busy' | 'goForward' | 'goBack'> }} props
 */
export const Pages = ({ list: { number, busy, goForward, goBack } }) =>
  (goForward || goBack) &&
  html`
    <nav class="pages" aria-label=${w.pages.label}>
      <button type="button" aria-disabled=${busy || !goBack} onClick=${() => busy || goBack?.()}>${w.pages.previous}</button>
      <span>${w.pages.number(number)}</span>
      <button type="button" aria-disabled=${busy || !goForward} onClick=${() => busy || goForward?.()}>${w.pages.next}</button>
    </nav>
  `

/**
 * A list with all its states: why it could not be read, that it is being read, its rows, why there are none, and its
 * pages.
 * @template Item
 * @param {object} props
 * @param {ReturnType<typeof useList<Item>>} props.list
 * @param {(items: readonly Item[]) => unknown} props.rows
 * @param {import('../../controls/icons.js').IconName} props.icon of an empty list, as the next two
 * @param {string} props.title
 * @param {string} props.hint
 * @param {(() => void) | false} [props.clear] clears the filters, of which there are some
 * @param {number} [props.count] of placeholders
 */
export const List = ({ list, rows, icon, title, hint, clear, count }) => html`
  <${Failure} message=${list.error} retry=${list.reload} />
  ${!list.items && list.busy && html`<${Loading} kind="rows" count=${count} />`}
  ${list.items && list.items.length > 0 && rows(list.items)}
  ${
    list.items?.length === 0 &&
    (clear
      ? html`<${Empty} icon=${icon} title=${w.nothingMatches}><p>${w.nothingMatchesHint}</p><button type="button" onClick=${clear}>${w.clearFilters}</button><//>`
      : html`<${Empty} icon=${icon} title=${title}><p>${hint}</p><//>`)
  }
  <${Pages} list=${list} />
`
