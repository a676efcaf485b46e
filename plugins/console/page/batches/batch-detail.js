import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { readGroup } from '../assets/group.js'
import { FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction, useApi, useLoaded, usePolling } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatNumber, formatTime, parseTime } from '../words/format.js'
import { BatchItems } from './batch-items.js'
import { Progress, stateOf } from './progress.js'
import { t } from './words.js'

/** @typedef {import('./batch.js').Batch} Batch */

/** While a batch runs, its progress is read this often. */
const pollMs = 3_000

/**
 * One batch: how far it is, and what has become of each of its items.
 * @param {{ id: string }} props
 */
export const BatchDetail = ({ id }) => {
  const api = useApi()
  const path = `${paths.batches}/${encodeURIComponent(id)}`
  const read = async (/** @type {AbortSignal} */ signal) =>
    /** @type {Batch} */ ((await api.requestWithToken(path, { signal })).Result)
  const loaded = useLoaded(
    async (signal) => {
      const batch = await read(signal)
      // It may have been deleted.
      return { batch, group: await readGroup(api, batch.GroupId, signal).catch(() => undefined) }
    },
    [id],
  )
  const [isCancelling, setIsCancelling] = useState(false)
  const { batch, group } = loaded.value ?? {}
  const show = (/** @type {Batch} */ next) => loaded.change((before) => ({ ...before, batch: next }))
  usePolling(async () => show(await read(AbortSignal.timeout(10 * pollMs))), {
    enabled: batch?.State === 'Running',
    ms: pollMs,
  })
  const cancel = async () => {
    show((await api.requestWithToken(`${path}/cancel`, { method: 'POST' })).Result)
    showToast(t.batches.cancelled)
  }
  /** Lets failed items wait again. Without a position: all of them. */
  const retry = async (/** @type {number | undefined} */ position = undefined) => {
    const item = position === undefined ? '' : `/items/${position}`
    show((await api.requestWithToken(`${path}${item}/retry`, { method: 'POST' })).Result)
    showToast(t.batches.retried)
  }
  const retryingAll = useAction(() => retry())
  const canRetry = batch !== undefined && batch.CancelTime === undefined && batch.Counts.Failed > 0
  const isMissing = !batch && loaded.error?.status === 404
  const canCancel = batch?.State === 'Running' && batch.CancelTime === undefined
  const waiting = batch?.Counts.Waiting ?? 0
  return html`
    <a class="back" href=${linkTo('batches')}><${Icon} name="back" />${t.groups.batches}</a>
    <div class="heading">
      <h1 tabindex="-1">${batch ? t.batches.title(batch.TotalCount, formatNumber(batch.TotalCount)) : isMissing ? t.batches.missing : t.loading}</h1>
      <div class="actions">
        ${canRetry && html`<button type="button" aria-disabled=${retryingAll.busy} onClick=${() => retryingAll.run()}>${t.batches.retryAll}</button>`}
        ${canCancel && html`<button type="button" class="danger" onClick=${() => setIsCancelling(true)}>${t.batches.cancel}</button>`}
      </div>
    </div>
    ${
      isMissing
        ? html`<${Empty} icon="upload" title=${t.batches.missing}><p>${t.batches.missingHint}</p><a class="button" href=${linkTo('batches')}>${t.groups.batches}</a><//>`
        : html`<${Failure} message=${loaded.error} retry=${loaded.reload} />`
    }
    <${Failure} message=${retryingAll.error} />
    ${!batch && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      batch &&
      html`
        <p class="hint status-line">
          <span class=${`badge ${batch.State === 'Running' ? 'Processing' : ''}`}>${t.batches.states[stateOf(batch)]}</span>
          <span>${t.batches.group} <a href=${linkTo('groups', group?.GroupType ?? 'AIGC', batch.GroupId)}>${group?.Name || batch.GroupId}</a></span>
          <${Time} label=${t.batches.began} value=${batch.CreateTime} />
          <${Time} label=${t.batches.ended} value=${batch.EndTime} />
        </p>
        <${Progress} batch=${batch} />
        <${BatchItems} batch=${batch} path=${path} retry=${canRetry ? retry : undefined} />
      `
    }
    ${
      isCancelling &&
      html`<${FormDialog} danger title=${t.batches.cancel} submitLabel=${t.batches.cancel} action=${cancel} onClose=${() => setIsCancelling(false)}><p>${t.batches.cancelWarning(waiting, formatNumber(waiting))}</p><//>`
    }
  `
}

/** @param {{ label: string, value: string | undefined }} props */
const Time = ({ label, value }) => {
  const time = parseTime(value)
  return time && html`<span>${label} <time datetime=${time.toISOString()}>${formatTime(time)}</time></span>`
}
