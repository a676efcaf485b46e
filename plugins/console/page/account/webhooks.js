import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { formatNumber, formatTime, parseTime } from '../words/format.js'
import { t } from './words.js'

/**
 * @typedef {object} Webhook
 * @property {string} id
 * @property {string} url
 * @property {readonly string[] | null} types null: all
 * @property {'active' | 'failing' | 'disabled'} status
 * @property {number} waiting events that wait for it
 * @property {string} created_at
 * @property {string | null} delivered_at
 * @property {string | null} last_error
 * @property {string | null} disabled_at
 */
/** @typedef {Webhook & { secret: string }} CreatedWebhook */

const families = /** @type {const} */ (['video', 'asset', 'face_verification'])

/** The user's webhooks: addresses that the server tells about events. */
export const Webhooks = () => {
  const api = useApi()
  const path = paths.webhooks ?? ''
  const list = useLoaded(async (signal) => {
    /** @type {readonly Webhook[]} */
    const webhooks = path ? (await api.request(path, { signal })).webhooks : []
    return webhooks
  }, [])
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState(/** @type {CreatedWebhook | undefined} */ (undefined))
  const [deleting, setDeleting] = useState(/** @type {Webhook | undefined} */ (undefined))

  const create = async (/** @type {Record<string, string>} */ { url, ...checked }) => {
    const types = families.filter((family) => family in checked).map((family) => `${family}.*`)
    const isAll = types.length === 0 || types.length === families.length
    const { webhook } = await api.request(path, { method: 'POST', body: { url, ...(!isAll && { types }) } })
    const { secret: _, ...listed } = webhook
    list.change((webhooks) => [...webhooks, listed])
    setCreated(webhook)
  }
  const remove = async () => {
    if (!deleting) return
    await api.request(`${path}/${encodeURIComponent(deleting.id)}`, { method: 'DELETE' })
    list.change((webhooks) => webhooks.filter(({ id }) => id !== deleting.id))
    showToast(t.webhooks.deleted)
  }
  if (!path) return html`<${Empty} icon="webhook" title=${t.webhooks.notOffered} />`
  return html`
    <p class="lead">${t.webhooks.lead}</p>
    <div class="actions list-actions">
      <button type="button" class="primary" onClick=${() => setCreating(true)}><${Icon} name="add" />${t.webhooks.create}</button>
      <button type="button" aria-disabled=${list.busy} onClick=${() => list.busy || list.reload()}>${t.refresh}</button>
    </div>
    <${Failure} message=${list.error} retry=${list.reload} />
    ${!list.value && list.busy && html`<${Loading} kind="rows" />`}
    ${
      list.value &&
      (list.value.length > 0
        ? html`<ul class="rows">${list.value.map((webhook) => html`<${Row} key=${webhook.id} webhook=${webhook} onDelete=${setDeleting} />`)}</ul>`
        : html`<${Empty} icon="webhook" title=${t.webhooks.empty}><p>${t.webhooks.emptyHint}</p><//>`)
    }
    ${
      creating &&
      html`
        <${FormDialog} title=${t.webhooks.create} submitLabel=${t.webhooks.create} action=${create} onClose=${() => setCreating(false)}>
          <${Field} label=${t.webhooks.address} hint=${t.webhooks.addressHint} name="url" type="url" inputmode="url" placeholder="https://" maxlength="2048" required autocomplete="off" />
          <fieldset class="modes">
            <legend>${t.webhooks.types}</legend>
            <div>
              ${families.map((family) => html`<label key=${family} class="check"><input type="checkbox" name=${family} defaultChecked /><span>${t.webhooks.families[family]}</span></label>`)}
            </div>
          </fieldset>
        <//>
      `
    }
    ${!creating && created && html`<${Created} webhook=${created} onClose=${() => setCreated(undefined)} />`}
    ${
      deleting &&
      html`
        <${FormDialog} danger title=${t.webhooks.delete} submitLabel=${t.webhooks.delete} action=${remove} onClose=${() => setDeleting(undefined)}>
          <p>${t.webhooks.deleteWarning(deleting.url)}</p>
        <//>
      `
    }
  `
}

/** @param {{ webhook: Webhook, onDelete: (webhook: Webhook) => void }} props */
const Row = ({ webhook, onDelete }) => {
  const { url, types, status, waiting, last_error: error } = webhook
  const delivered = parseTime(webhook.delivered_at)
  const disabled = parseTime(webhook.disabled_at)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${url}</p>
        <p class="hint">
          <span class=${`badge ${status}`}>${t.webhooks.states[status] ?? status}</span>
          <span>${types ? t.listed(types.map(nameOf)) : t.webhooks.allTypes}</span>
          ${delivered && html`<span>${t.webhooks.delivered} <time datetime=${delivered.toISOString()}>${formatTime(delivered)}</time></span>`}
          ${waiting > 0 && html`<span>${t.webhooks.waiting(formatNumber(waiting))}</span>`}
        </p>
        ${status !== 'active' && error && html`<p class="failure-reason">${error}</p>`}
        ${disabled && html`<p class="hint">${t.webhooks.disabledSince(formatTime(disabled))}</p>`}
      </div>
      <div class="actions">
        <button type="button" class="small danger" aria-label=${t.deleteOf(url)} onClick=${() => onDelete(webhook)}>${t.delete}</button>
      </div>
    </li>
  `
}

/** The name of a family, such as `video.*`; a single type stays as it is. @param {string} type */
const nameOf = (type) => {
  const family = families.find((one) => type === `${one}.*`)
  return family ? t.webhooks.families[family] : type
}

/**
 * Shows the secret of a new webhook. The page drops it when the dialog closes.
 * @param {{ webhook: CreatedWebhook, onClose: () => void }} props
 */
const Created = ({ webhook, onClose }) => html`
  <${Dialog} title=${t.webhooks.created} onClose=${onClose}>
    <p>${t.webhooks.shownOnce}</p>
    <p class="secret"><code>${webhook.secret}</code></p>
    <div class="actions">
      <${CopyButton} text=${webhook.secret} label=${t.copy} size="" autofocus />
      <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
    </div>
  <//>
`
