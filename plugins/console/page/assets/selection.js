import { useRef, useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api/api-error.js'
import { CopyButton } from '../controls/copy-button.js'
import { FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { t } from '../words/words.js'
import { pathOf, referenceOf, titleOf } from './asset.js'
import { ManyUsesWarning } from './uses.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {ReturnType<typeof useSelection>} Selection */

/** Assets that are deleted at the same time. */
const maxConcurrent = 4

/**
 * The selected assets of a list.
 * @param {readonly (Asset | undefined)[]} items of the list, as far as they are loaded
 */
export const useSelection = (items) => {
  const [chosen, setChosen] = useState(/** @type {ReadonlyMap<string, Asset>} */ (new Map()))
  const anchor = useRef(/** @type {number | undefined} */ (undefined))
  return {
    assets: [...chosen.values()],
    has: (/** @type {string} */ id) => chosen.has(id),
    clear: () => setChosen(new Map()),
    drop: (/** @type {readonly string[]} */ ids) =>
      setChosen((before) => new Map([...before].filter(([id]) => !ids.includes(id)))),
    /** @param {Asset} asset @param {number} at its index @param {boolean} range whether all since the last one are meant */
    toggle: (asset, at, range) =>
      setChosen((before) => {
        const after = new Map(before)
        const from = range && anchor.current !== undefined ? anchor.current : at
        anchor.current = at
        const selects = !before.has(asset.Id)
        for (let index = Math.min(from, at); index <= Math.max(from, at); index++) {
          const item = index === at ? asset : items[index]
          if (!item) continue
          if (selects) after.set(item.Id, item)
          else after.delete(item.Id)
        }
        return after
      }),
  }
}

/**
 * What can be done with all selected assets.
 * @param {{ selection: Selection, onDeleted: ((ids: readonly string[]) => void) | undefined }} props `onDeleted` undefined:
 * they are lent, and cannot be deleted
 */
export const SelectionBar = ({ selection, onDeleted }) => {
  const [deleting, setDeleting] = useState(false)
  const { assets } = selection
  if (assets.length === 0) return null
  return html`
    <div class="selection-bar" role="region" aria-label=${t.assets.selection}>
      <p role="status">${t.assets.selected(assets.length)}</p>
      <div class="actions">
        <${CopyButton} text=${assets.map(referenceOf).join('\n')} label=${t.assets.copyReferences} />
        ${onDeleted && html`<button type="button" class="small danger" onClick=${() => setDeleting(true)}>${t.delete}</button>`}
        <button type="button" class="small plain" aria-label=${t.assets.clearSelection} onClick=${selection.clear}><${Icon} name="close" /></button>
      </div>
    </div>
    ${
      deleting &&
      onDeleted &&
      html`<${DeleteSelected} assets=${assets} onClose=${() => setDeleting(false)}
        onDeleted=${(/** @type {readonly string[]} */ ids) => {
          selection.drop(ids)
          onDeleted(ids)
        }} />`
    }
  `
}

/** @param {{ assets: readonly Asset[], onDeleted: (ids: readonly string[]) => void, onClose: () => void }} props */
const DeleteSelected = ({ assets, onDeleted, onClose }) => {
  const api = useApi()
  // The list of those that were chosen when the dialog opened: it does not shrink while they are deleted.
  const chosen = useRef(assets).current
  const ids = useRef(chosen.map(({ Id }) => Id)).current
  const [done, setDone] = useState(0)
  const remove = async () => {
    /** @type {string[]} */
    const deleted = []
    /** @type {unknown} */
    let failure
    const left = [...chosen]
    const removeNext = async () => {
      for (let asset = left.shift(); asset; asset = left.shift()) {
        try {
          await api.requestWithToken(pathOf(asset.Id), { method: 'DELETE' })
          deleted.push(asset.Id)
          setDone(deleted.length)
        } catch (error) {
          failure = error
          // Too many requests, or no connection: the others would fail too.
          if (!(error instanceof ApiError) || error.status === 0 || error.status === 429) left.length = 0
        }
      }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, removeNext))
    onDeleted(deleted)
    if (failure !== undefined)
      throw new ApiError(0, t.assets.someNotDeleted(chosen.length - deleted.length, messageOf(failure)))
    showToast(t.assets.manyDeleted(deleted.length))
  }
  return html`
    <${FormDialog} danger title=${t.assets.deleteMany(chosen.length)} submitLabel=${t.assets.deleteMany(chosen.length)} action=${remove} onClose=${onClose}>
      <p>${t.assets.deleteManyWarning}</p>
      <${ManyUsesWarning} ids=${ids} />
      <ul class="some-names">
        ${chosen.slice(0, 5).map((asset) => html`<li key=${asset.Id}>${titleOf(asset)}</li>`)}
        ${chosen.length > 5 && html`<li>${t.assets.andMore(chosen.length - 5)}</li>`}
      </ul>
      ${done > 0 && html`<progress max=${chosen.length} value=${done} aria-label=${t.assets.deleting}></progress>`}
    <//>
  `
}
