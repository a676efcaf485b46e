import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { useLongList } from '../lists/long-list.js'
import { SearchFilters, setFrom } from '../lists/search-field.js'
import { useShown, useVisibleRows } from '../lists/visible-rows.js'
import { formatNumber } from '../words/format.js'
import { t } from '../words/words.js'
import { assetsPath, referenceOf, titleOf } from './asset.js'
import { rangeOf } from './asset-list.js'
import { groupTypeChoices, listGroups, sourceChoices, sourceNamed } from './group.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {import('../videos/video-request.js').Input} Input */

/** Groups that a list of assets may name. */
const maxNamed = 100

/**
 * A dialog in which the user chooses among the assets that can be used now.
 * @param {{ title: string, types: readonly Input['type'][], multiple?: boolean, lent?: boolean, onPick: (inputs: readonly
 * Input[]) => void, onClose: () => void }} props `lent`: also among those that others lend for videos
 */
export const AssetPicker = ({ title, types, multiple = false, lent = false, onPick, onClose }) => {
  const api = useApi()
  const [source, setSource] = useState('AIGC')
  const { type, scope } = sourceNamed(source)
  const [group, setGroup] = useState('')
  const [part, setPart] = useState('')
  const [picked, setPicked] = useState(/** @type {readonly Asset[]} */ ([]))
  const loaded = useLoaded(
    async (signal) => {
      const found = await listGroups(api, type, { scope, signal })
      const groups = scope ? found.filter(({ Access }) => Access === 'use').slice(0, maxNamed) : found
      return { source, groups }
    },
    [source],
  )
  // Until they are there, the value is that of another source.
  const groups = loaded.value?.source === source ? loaded.value.groups : undefined
  const usable = scope && groups ? groups.map(({ Id }) => Id).join() : ''
  const query = {
    ...{ GroupType: type, GroupIds: group || usable, NameContains: part, Statuses: 'Active', scope },
    // With all types, the server need not search.
    AssetTypes: types.length < Object.keys(t.assets.types).length ? types.join() : '',
    ...{ SortBy: 'CreateTime', SortOrder: 'Desc' },
  }
  const toggle = (/** @type {Asset} */ asset) => {
    const others = picked.filter(({ Id }) => Id !== asset.Id)
    if (others.length < picked.length) setPicked(others)
    else setPicked(multiple ? [...picked, asset] : [asset])
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    if (picked.length > 0) onPick(picked.map(inputOf))
    onClose()
  }
  return html`
    <${Dialog} title=${title} wide onClose=${onClose}>
      <div class="picker">
        <${SearchFilters} text=${part} onChange=${setPart}>
          <${Select} label=${t.groups.types} value=${source} choices=${lent ? sourceChoices : groupTypeChoices} onChange=${setFrom(
            (chosen) => {
              setSource(chosen)
              setGroup('')
            },
          )} />
          <${Select} label=${t.videos.group} value=${group} onChange=${setFrom(setGroup)} choices=${[
            ['', t.videos.allGroups],
            ...(groups ?? []).map(({ Id, Name }) => /** @type {const} */ ([Id, Name || Id])),
          ]} />
        <//>
        <form onSubmit=${submit}>
          ${
            scope && !usable
              ? html`
                  <${Failure} message=${loaded.error} retry=${loaded.reload} />
                  ${groups ? html`<p class="lead">${t.groups.noneToUse}</p>` : !loaded.error && html`<${Loading} kind="rows" />`}
                `
              : html`<${Found} query=${query} multiple=${multiple} picked=${picked} toggle=${toggle} />`
          }
          <div class="actions">
            <button type="button" onClick=${onClose}>${t.cancel}</button>
            <button type="submit" class="primary" aria-disabled=${picked.length === 0}>${t.videos.usePicked(picked.length)}</button>
          </div>
        </form>
      </div>
    <//>
  `
}

/**
 * The assets of a query, of which the user chooses some.
 * @param {{ query: Readonly<Record<string, string>>, multiple: boolean, picked: readonly Asset[], toggle: (asset: Asset)
 * => void }} props
 */
const Found = ({ query, multiple, picked, toggle }) => {
  /** @type {ReturnType<typeof useLongList<Asset>>} */
  const list = useLongList(assetsPath, query)
  return html`
    <${Failure} message=${list.error} retry=${list.reload} />
    ${list.total === undefined && list.busy && html`<${Loading} kind="rows" />`}
    ${(list.total ?? 0) > 0 && html`<${Choices} list=${list} multiple=${multiple} picked=${picked} toggle=${toggle} />`}
    ${list.total === 0 && html`<p class="lead">${query.NameContains ? t.assets.emptyFiltered : t.videos.nothingToPick}</p>`}
    <p class="hint" role="status">${list.total ? t.assets.count(list.total, formatNumber(list.total)) : ''}</p>
  `
}

/**
 * @param {{ list: ReturnType<typeof useLongList<Asset>>, multiple: boolean, picked: readonly Asset[], toggle: (asset:
 * Asset) => void }} props
 */
const Choices = ({ list, multiple, picked, toggle }) => {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null))
  const count = list.total ?? 0
  const rows = useVisibleRows({ count, rowHeight: 80, minColumn: 208, gap: 8, scroller })
  useShown(rows, list.show)
  const isPicked = (/** @type {Asset} */ { Id }) => picked.some((one) => one.Id === Id)
  return html`
    <div class="picker-list" ref=${scroller}>
      <div class="long-list" ref=${rows.box} style=${{ height: `${rows.height}px` }}>
        <ul class="choices" aria-busy=${list.busy} style=${{ marginTop: `${rows.above}px`, gridTemplateColumns: `repeat(${rows.columns}, minmax(0, 1fr))` }}>
          ${rangeOf(rows).map((at) => {
            const asset = list.items[at]
            return html`
              <li key=${asset?.Id ?? at} data-item aria-setsize=${count} aria-posinset=${at + 1}>
                ${
                  asset
                    ? html`
                        <label>
                          <input type=${multiple ? 'checkbox' : 'radio'} name="asset" checked=${isPicked(asset)} onChange=${() => toggle(asset)} />
                          <${Thumbnail} type=${asset.AssetType} address=${httpUrl(asset.URL)} />
                          <span>${titleOf(asset)}</span>
                        </label>
                      `
                    : html`<div class="skeleton" role="presentation"></div>`
                }
              </li>
            `
          })}
        </ul>
      </div>
    </div>
  `
}

/**
 * @param {Asset} asset
 * @returns {Input}
 */
const inputOf = (asset) => ({
  ...{ type: /** @type {Input['type']} */ (asset.AssetType), url: referenceOf(asset), title: titleOf(asset) },
  preview: httpUrl(asset.URL),
})
