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
import { groupTypeChoices, listGroups } from './group.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {import('../videos/video-request.js').Input} Input */

/**
 * A dialog in which the user chooses among the own assets that can be used now.
 * @param {{ title: string, types: readonly Input['type'][], multiple?: boolean, onPick: (inputs: readonly Input[]) =>
 * void, onClose: () => void }} props
 */
export const AssetPicker = ({ title, types, multiple = false, onPick, onClose }) => {
  const api = useApi()
  const [groupType, setGroupType] = useState('AIGC')
  const [group, setGroup] = useState('')
  const [part, setPart] = useState('')
  const [picked, setPicked] = useState(/** @type {readonly Asset[]} */ ([]))
  const groups = useLoaded((signal) => listGroups(api, /** @type {GroupType} */ (groupType), signal), [groupType])
  /** @type {ReturnType<typeof useLongList<Asset>>} */
  const list = useLongList(assetsPath, {
    ...{ GroupType: groupType, GroupIds: group, NameContains: part, Statuses: 'Active' },
    // With all types, the server need not search.
    AssetTypes: types.length < Object.keys(t.assets.types).length ? types.join() : '',
    ...{ SortBy: 'CreateTime', SortOrder: 'Desc' },
  })
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
          <${Select} label=${t.groups.types} value=${groupType} choices=${groupTypeChoices} onChange=${setFrom(
            (type) => {
              setGroupType(type)
              setGroup('')
            },
          )} />
          <${Select} label=${t.videos.group} value=${group} onChange=${setFrom(setGroup)} choices=${[
            ['', t.videos.allGroups],
            ...(groups.value ?? []).map(({ Id, Name }) => /** @type {const} */ ([Id, Name || Id])),
          ]} />
        <//>
        <form onSubmit=${submit}>
          <${Failure} message=${list.error} retry=${list.reload} />
          ${list.total === undefined && list.busy && html`<${Loading} kind="rows" />`}
          ${(list.total ?? 0) > 0 && html`<${Choices} list=${list} multiple=${multiple} picked=${picked} toggle=${toggle} />`}
          ${list.total === 0 && html`<p class="lead">${part ? t.assets.emptyFiltered : t.videos.nothingToPick}</p>`}
          <div class="actions">
            <p class="hint" role="status">${list.total ? t.assets.count(list.total, formatNumber(list.total)) : ''}</p>
            <button type="button" onClick=${onClose}>${t.cancel}</button>
            <button type="submit" class="primary" aria-disabled=${picked.length === 0}>${t.videos.usePicked(picked.length)}</button>
          </div>
        </form>
      </div>
    <//>
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
