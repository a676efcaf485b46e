import { useRef } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.js'
import { html } from '../controls/html.js'
import { httpUrl, Preview } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { linkTo } from '../frame/route.js'
import { useShown, useVisibleRows } from '../lists/visible-rows.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { referenceOf, statusOf, titleOf, typeOf } from './asset.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {import('./selection.js').Selection} Selection */
/** @typedef {{ kind: 'rename' | 'delete', asset: Asset }} Task */
/**
 * @typedef {object} ListProps
 * @property {ReturnType<typeof import('../lists/long-list.js').useLongList<Asset>>} list
 * @property {Selection} selection
 * @property {ReadonlyMap<string, string>} [groups] names of groups by id, where assets of several are shown
 * @property {((task: Task) => void) | undefined} onTask undefined: the assets are lent, and cannot be changed
 */

/** Of the style sheet, in CSS pixels. */
const grid = { minColumn: 220, gap: 16, rowHeight: 300 }
const table = { rowHeight: 57 }

/** The assets as a grid of previews. @param {ListProps} props */
export const AssetGrid = ({ list, selection, groups, onTask }) => {
  const count = list.total ?? 0
  const rows = useVisibleRows({ count, ...grid })
  useShown(rows, list.show)
  return html`
    <div class="long-list" ref=${rows.box} style=${{ height: `${rows.height}px` }}>
      <ul class="cards" aria-busy=${list.busy} style=${{ marginTop: `${rows.above}px`, gridTemplateColumns: `repeat(${rows.columns}, minmax(0, 1fr))` }}>
        ${rangeOf(rows).map((at) => {
          const asset = list.items[at]
          return html`
            <li key=${keyOf(list.items, at)} data-item aria-setsize=${count} aria-posinset=${at + 1}>
              ${asset ? html`<${Card} asset=${asset} at=${at} selection=${selection} groups=${groups} onTask=${onTask} />` : placeholder}
            </li>
          `
        })}
      </ul>
    </div>
  `
}

/** A card that is not loaded yet: it has the same height. */
const placeholder = html`
  <article class="placeholder" aria-hidden="true">
    <div class="preview skeleton"></div>
    <div class="item-text"><h2>…</h2><p class="hint"><span class="badge">…</span></p></div>
    <div class="actions"><span class="small"></span></div>
  </article>
`

/** @param {{ asset: Asset, at: number } & Omit<ListProps, 'list'>} props */
const Card = ({ asset, at, selection, groups, onTask }) => {
  const title = titleOf(asset)
  const group = groups?.get(asset.GroupId)
  return html`
    <article class=${selection.has(asset.Id) ? 'selected' : ''}>
      <${Preview} asset=${asset} title=${title} />
      <${Choose} asset=${asset} at=${at} selection=${selection} />
      <div class="item-text">
        <h2 title=${title}><a href=${linkTo('asset', asset.Id)}>${title}</a></h2>
        <p class="hint">
          <span class=${`badge ${asset.Status}`}>${statusOf(asset)}</span>
          <span>${group ?? typeOf(asset)}</span>
        </p>
      </div>
      <div class="actions"><${Actions} asset=${asset} onTask=${onTask} /></div>
    </article>
  `
}

/** The assets as a table. @param {ListProps} props */
export const AssetTable = ({ list, selection, groups, onTask }) => {
  const count = list.total ?? 0
  const rows = useVisibleRows({ count, ...table })
  useShown(rows, list.show)
  const shown = rangeOf(rows)
  return html`
    <div class="long-list" ref=${rows.box} style=${{ height: `${rows.height + table.rowHeight}px` }}>
      <table class="asset-table" aria-busy=${list.busy} aria-rowcount=${count + 1} style=${{ marginTop: `${rows.above}px` }}>
        <caption class="visually-hidden">${t.assets.all}</caption>
        <thead>
          <tr aria-rowindex="1">
            <td></td>
            <th scope="col">${t.name}</th>
            <th scope="col">${t.assets.status}</th>
            <th scope="col" class="minor">${t.assets.kind}</th>
            ${groups && html`<th scope="col" class="minor">${t.assets.group}</th>`}
            <th scope="col" class="minor">${t.createdAt}</th>
            <td></td>
          </tr>
        </thead>
        <tbody>
          ${shown.map((at) => {
            const asset = list.items[at]
            return html`
              <tr key=${keyOf(list.items, at)} data-item aria-rowindex=${at + 2} class=${asset && selection.has(asset.Id) ? 'selected' : ''}>
                ${asset ? html`<${Cells} asset=${asset} at=${at} selection=${selection} groups=${groups} onTask=${onTask} />` : html`<td colspan=${groups ? 7 : 6}><div class="skeleton"></div></td>`}
              </tr>
            `
          })}
        </tbody>
      </table>
    </div>
  `
}

/** @param {{ asset: Asset, at: number } & Omit<ListProps, 'list'>} props */
const Cells = ({ asset, at, selection, groups, onTask }) => {
  const title = titleOf(asset)
  const created = parseTime(asset.CreateTime)
  return html`
    <td><${Choose} asset=${asset} at=${at} selection=${selection} /></td>
    <th scope="row">
      <div class="named">
        <${Thumbnail} type=${asset.AssetType} address=${httpUrl(asset.URL)} />
        <a href=${linkTo('asset', asset.Id)} title=${title}>${title}</a>
      </div>
    </th>
    <td><span class=${`badge ${asset.Status}`}>${statusOf(asset)}</span></td>
    <td class="minor">${typeOf(asset)}</td>
    ${groups && html`<td class="minor"><span class="one-line">${groups.get(asset.GroupId) ?? asset.GroupId}</span></td>`}
    <td class="minor">${created && html`<time datetime=${created.toISOString()}>${formatTime(created)}</time>`}</td>
    <td><div class="actions"><${Actions} asset=${asset} onTask=${onTask} /></div></td>
  `
}

/** Selects an asset; with Shift, all up to the one that was selected before. @param {{ asset: Asset, at: number, selection: Selection }} props */
const Choose = ({ asset, at, selection }) => {
  const shift = useRef(false)
  return html`
    <label class="choose">
      <input
        type="checkbox"
        aria-label=${t.assets.select(titleOf(asset))}
        checked=${selection.has(asset.Id)}
        onClick=${(/** @type {MouseEvent} */ event) => {
          shift.current = event.shiftKey
        }}
        onChange=${() => selection.toggle(asset, at, shift.current)}
      />
    </label>
  `
}

/** @param {{ asset: Asset } & Pick<ListProps, 'onTask'>} props */
const Actions = ({ asset, onTask }) => {
  const title = titleOf(asset)
  return html`
    <${CopyButton} text=${referenceOf(asset)} label=${t.assets.copyId} title=${t.assets.copyIdOf(title)} />
    ${
      onTask &&
      html`
        <button type="button" class="small" aria-label=${t.renameOf(title)} onClick=${() => onTask({ kind: 'rename', asset })}>${t.rename}</button>
        <button type="button" class="small danger" aria-label=${t.deleteOf(title)} onClick=${() => onTask({ kind: 'delete', asset })}>${t.delete}</button>
      `
    }
  `
}

/** @param {{ first: number, last: number }} rows */
export const rangeOf = ({ first, last }) => Array.from({ length: Math.max(0, last - first) }, (_, nth) => first + nth)

/** The id of an item, unless the one before it is the same: the list may be changing on the server. */
const keyOf = (/** @type {readonly (Asset | undefined)[]} */ items, /** @type {number} */ at) => {
  const id = items[at]?.Id
  return id === undefined || id === items[at - 1]?.Id ? `index ${at}` : id
}
