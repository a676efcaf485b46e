import { useState } from 'preact/hooks'
import { Dialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Failure, Loading, More } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { usePages } from '../frame/pages.js'
import { t } from '../words/words.js'
import { assetsPath, titleOf } from './asset.js'
import { listGroups } from './group.js'
import { setOrderFrom } from './groups.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {import('../videos/video-request.js').Input} Input */

/** @type {readonly (readonly [string, string])[]} */
const groupTypes = [
  ['AIGC', t.groups.type.AIGC],
  ['LivenessFace', t.groups.type.LivenessFace],
]

/**
 * A dialog in which the user chooses among the own assets that can be used now.
 * @param {{ title: string, types: readonly Input['type'][], multiple?: boolean, onPick: (inputs: readonly Input[]) =>
 * void, onClose: () => void }} props
 */
export const AssetPicker = ({ title, types, multiple = false, onPick, onClose }) => {
  const api = useApi()
  const [groupType, setGroupType] = useState('AIGC')
  const [group, setGroup] = useState('')
  const [picked, setPicked] = useState(/** @type {readonly Asset[]} */ ([]))
  const groups = useLoaded((signal) => listGroups(api, /** @type {GroupType} */ (groupType), signal), [groupType])
  /** @type {ReturnType<typeof usePages<Asset>>} */
  const list = usePages(assetsPath, {
    ...{ GroupType: groupType, GroupIds: group, Statuses: 'Active', SortBy: 'CreateTime', SortOrder: 'Desc' },
  })
  const shown = (list.pages?.items ?? []).filter(({ AssetType }) => types.some((type) => type === AssetType))
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
  const isPicked = (/** @type {Asset} */ { Id }) => picked.some((one) => one.Id === Id)
  return html`
    <${Dialog} title=${title} wide onClose=${onClose}>
      <div class="filters">
        <${Select} label=${t.groups.types} value=${groupType} choices=${groupTypes} onChange=${setOrderFrom((type) => {
          setGroupType(type)
          setGroup('')
        })} />
        <${Select} label=${t.videos.group} value=${group} onChange=${setOrderFrom(setGroup)} choices=${[
          ['', t.videos.allGroups],
          ...(groups.value ?? []).map(({ Id, Name }) => /** @type {const} */ ([Id, Name || Id])),
        ]} />
      </div>
      <form onSubmit=${submit}>
        <${Failure} message=${list.error} retry=${list.reload} />
        ${!list.pages && list.busy && html`<${Loading} kind="rows" />`}
        ${
          shown.length > 0 &&
          html`
            <ul class="choices" aria-busy=${list.busy}>
              ${shown.map(
                (asset) => html`
                  <li key=${asset.Id}>
                    <label>
                      <input type=${multiple ? 'checkbox' : 'radio'} name="asset" checked=${isPicked(asset)} onChange=${() => toggle(asset)} />
                      <${Thumbnail} type=${asset.AssetType} address=${httpUrl(asset.URL)} />
                      <span>${titleOf(asset)}</span>
                    </label>
                  </li>
                `,
              )}
            </ul>
          `
        }
        ${list.pages && shown.length === 0 && html`<p class="lead">${t.videos.nothingToPick}</p>`}
        ${list.pages?.next && html`<${More} shown=${list.pages.items.length} total=${list.pages.total} next=${list.pages.next} busy=${list.busy} loadMore=${list.loadMore} />`}
        <div class="actions">
          <button type="button" onClick=${onClose}>${t.cancel}</button>
          <button type="submit" class="primary" aria-disabled=${picked.length === 0}>${t.videos.usePicked(picked.length)}</button>
        </div>
      </form>
    <//>
  `
}

/**
 * @param {Asset} asset
 * @returns {Input}
 */
const inputOf = (asset) => ({
  ...{ type: /** @type {Input['type']} */ (asset.AssetType), url: `asset://${asset.Id}`, title: titleOf(asset) },
  preview: httpUrl(asset.URL),
})
