import { useRef } from 'preact/hooks'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { formatBytes } from '../words/format.js'
import { t } from '../words/words.js'

/** @typedef {import('./uploads.js').Upload} Upload */
/** @typedef {import('./uploads.js').Uploads} Uploads */

/**
 * A button that lets the user choose files of this device.
 * @param {{ label: string, onFiles: (files: readonly File[]) => void }} props
 */
export const FilePicker = ({ label, onFiles }) => {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))
  const choose = () => {
    const field = input.current
    onFiles([...(field?.files ?? [])])
    // Without this, choosing the same file again would be no change.
    if (field) field.value = ''
  }
  return html`
    <button type="button" class="primary" onClick=${() => input.current?.click()}><${Icon} name="upload" />${label}</button>
    <input ref=${input} type="file" multiple accept="image/*,video/*,audio/*" hidden onChange=${choose} />
  `
}

/**
 * The uploads for one group, with their progress.
 * @param {{ uploads: Uploads, group: string }} props
 */
export const UploadList = ({ uploads, group }) => {
  const items = uploads.items.filter(({ target }) => target.id === group)
  if (items.length === 0) return null
  return html`
    <section class="uploads" aria-label=${t.uploads.title}>
      <ul class="rows">
        ${items.map((item) => html`<${Row} key=${item.id} item=${item} uploads=${uploads} />`)}
      </ul>
    </section>
  `
}

/** @param {{ item: Upload, uploads: Uploads }} props */
const Row = ({ item, uploads: { remove, retry } }) => {
  const { id, file, state, sent, error, asset } = item
  const isCancellable = state === 'waiting' || state === 'sending'
  return html`
    <li>
      <div class="item-text">
        <p class="name">${file.name}</p>
        ${isCancellable && html`<progress max=${file.size || 1} value=${sent} aria-label=${t.uploads.progressOf(file.name)}></progress>`}
        <p class="hint">
          <span>${t.uploads.states[state]}</span>
          <span class="figure">${state === 'sending' ? t.uploads.sent(formatBytes(sent), formatBytes(file.size)) : formatBytes(file.size)}</span>
        </p>
        ${error && html`<p class="failure-reason" role="alert">${error}</p>`}
      </div>
      <div class="actions">
        ${state === 'failed' && html`<button type="button" class="small" aria-label=${t.uploads.retryOf(file.name)} onClick=${() => retry(id)}>${t.retry}</button>`}
        ${isCancellable && html`<button type="button" class="small" aria-label=${t.uploads.cancelOf(file.name)} onClick=${() => remove(id)}>${t.cancel}</button>`}
        ${
          (state === 'failed' || (state === 'processing' && asset)) &&
          html`<button type="button" class="small plain" aria-label=${t.uploads.dismissOf(file.name)} onClick=${() => remove(id)}>${t.uploads.dismiss}</button>`
        }
      </div>
    </li>
  `
}
