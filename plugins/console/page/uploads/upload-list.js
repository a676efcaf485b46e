import { useEffect, useRef } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { useApi, useLoaded, usePolling } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatBytes, formatNumber } from '../words/format.js'
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
 * The uploads for one group, with their progress, and the batches that were made of them.
 * @param {{ uploads: Uploads, group: string, onAdded: () => void }} props `onAdded`: called when a batch has added assets
 */
export const UploadList = ({ uploads, group, onAdded }) => {
  const items = uploads.items.filter(({ target }) => target.id === group)
  const sets = [...uploads.sets].filter(([, set]) => set[0]?.target.id === group)
  const batches = uploads.batches.filter(({ target }) => target.id === group)
  if (items.length + sets.length + batches.length === 0) return null
  return html`
    <section class="uploads" aria-label=${t.uploads.title}>
      <ul class="rows">
        ${batches.map(({ id }) => html`<${BatchRow} key=${id} id=${id} uploads=${uploads} onAdded=${onAdded} />`)}
        ${sets.map(([key, set]) => html`<${SetRow} key=${key} set=${set} uploads=${uploads} />`)}
        ${items.map((item) => html`<${Row} key=${item.id} item=${item} uploads=${uploads} />`)}
      </ul>
    </section>
  `
}

/** Files that become assets with one request. @param {{ set: readonly Upload[], uploads: Uploads }} props */
const SetRow = ({ set, uploads: { removeAll, retryAll } }) => {
  const title = t.uploads.files(set.length, formatNumber(set.length))
  const [sent, size] = [sumOf(set, ({ sent }) => sent), sumOf(set, ({ file }) => file.size)]
  const done = set.filter(({ state }) => state !== 'waiting' && state !== 'sending').length
  const { state, error } = set[0] ?? {}
  const isFailed = state === 'failed'
  return html`
    <li>
      <div class="item-text">
        <p class="name">${title}</p>
        ${!isFailed && html`<progress max=${size || 1} value=${sent} aria-label=${t.uploads.progressOf(title)}></progress>`}
        <p class="hint">
          <span>${t.uploads.filesSent(formatNumber(done), formatNumber(set.length))}</span>
          <span class="figure">${t.uploads.sent(formatBytes(sent), formatBytes(size))}</span>
        </p>
        ${isFailed && html`<p class="failure-reason" role="alert">${error}</p>`}
      </div>
      <div class="actions">
        ${isFailed && html`<button type="button" class="small" aria-label=${t.uploads.retryOf(title)} onClick=${() => retryAll(set)}>${t.retry}</button>`}
        ${state !== 'creating' && html`<button type="button" class="small" aria-label=${t.uploads.cancelOf(title)} onClick=${() => removeAll(set)}>${t.cancel}</button>`}
      </div>
    </li>
  `
}

/** @param {readonly Upload[]} set @param {(upload: Upload) => number} of */
const sumOf = (set, of) => set.reduce((sum, upload) => sum + of(upload), 0)

/** The progress of a batch is read this often. */
const pollMs = 3_000

/** A batch of uploaded files, while the group is open. @param {{ id: string, uploads: Uploads, onAdded: () => void }} props */
const BatchRow = ({ id, uploads: { forgetBatch }, onAdded }) => {
  const api = useApi()
  const read = async (/** @type {AbortSignal} */ signal) => {
    const path = `${paths.batches}/${encodeURIComponent(id)}`
    return /** @type {import('../batches/batch.js').Batch} */ ((await api.requestWithToken(path, { signal })).Result)
  }
  const loaded = useLoaded(read, [id])
  const batch = loaded.value
  usePolling(
    async () => {
      const next = await read(AbortSignal.timeout(10 * pollMs))
      loaded.change(() => next)
    },
    { enabled: batch?.State === 'Running', ms: pollMs },
  )
  const created = batch?.Counts.Created ?? 0
  useEffect(() => {
    if (created > 0) onAdded()
  }, [created])
  const total = batch?.TotalCount ?? 0
  const title = t.uploads.files(total, formatNumber(total))
  const failed = total - created - (batch?.Counts.Waiting ?? 0) - (batch?.Counts.Sending ?? 0)
  return (
    batch &&
    html`
      <li>
        <div class="item-text">
          <p class="name"><a href=${linkTo('batches', id)}>${title}</a></p>
          <progress max=${total} value=${created + failed} aria-label=${t.uploads.progressOf(title)}></progress>
          <p class="hint" role="status">
            <span>${t.uploads.added(formatNumber(created), formatNumber(total))}</span>
            ${failed > 0 && html`<span class="failure-reason">${t.uploads.notAdded(formatNumber(failed))}</span>`}
          </p>
        </div>
        <div class="actions">
          <a class="button small" href=${linkTo('batches', id)}>${t.uploads.details}</a>
          ${batch.State === 'Ended' && html`<button type="button" class="small plain" aria-label=${t.uploads.dismissOf(title)} onClick=${() => forgetBatch(id)}>${t.uploads.dismiss}</button>`}
        </div>
      </li>
    `
  )
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
