import { useState } from 'preact/hooks'
import { Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { formatNumber } from '../../words/format.js'
import { t } from '../../words/words.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin, useQuery } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { UserPicker, useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'

/** @typedef {keyof typeof w.decisions.counts} Count */
/**
 * @typedef {object} AdminBatch
 * @property {string} id
 * @property {string} user
 * @property {string | null} user_name
 * @property {string} group
 * @property {string} created_at
 * @property {string | null} cancelled_at
 * @property {string | null} ended_at
 * @property {string | null} due_at
 * @property {Readonly<Record<Count, number>>} counts
 */

const names = /** @type {const} */ (['user', 'state'])

/** The batches of assets of all users; at first those that run. */
export const AdminBatches = () => {
  const admin = useAdminApi()
  const [query, setQuery] = useQuery(names)
  const user = useUserById(query.user)
  // A link that names a user shows all batches of that user.
  const state = query.state ?? (query.user ? 'all' : 'running')
  const list = useList('/batches', 'batches', { user: query.user, state: state === 'all' ? '' : state })
  const [open, setOpen] = useState(/** @type {AdminBatch | undefined} */ (undefined))
  const cancel = async () => {
    await admin.send('POST', `${pathWith`/batches/${open?.id ?? ''}`}/cancel`)
    list.reload()
    showToast(w.decisions.batchCancelled)
  }
  const show = (/** @type {Event} */ event) =>
    setQuery({ state: /** @type {HTMLSelectElement} */ (event.currentTarget).value })
  const pick = (/** @type {{ id: string } | undefined} */ picked, /** @type {string} */ text) =>
    (picked || text === '') && setQuery({ user: picked?.id ?? '', state })
  return html`
    <div class="filters">
      <${Select} label=${w.decisions.show} value=${state} choices=${Object.entries(w.decisions.batchStates)} onChange=${show} />
      <${UserPicker} label=${w.decisions.user} name="filter-user" value=${user} onPick=${pick} />
    </div>
    <${List} list=${list} icon="upload" title=${w.decisions.batchesEmpty} hint=${w.decisions.batchesEmptyHint}
      rows=${(/** @type {readonly AdminBatch[]} */ batches) => html`<ul class="rows">${batches.map((batch) => html`<${Row} key=${batch.id} batch=${batch} onCancel=${setOpen} />`)}</ul>`} />
    ${
      open &&
      html`
        <${ConfirmByName} title=${w.decisions.cancelTitle} submitLabel=${w.decisions.cancelTitle} name=${open.user_name ?? open.id} action=${cancel} onClose=${() => setOpen(undefined)}>
          <p>${w.decisions.cancelWarning}</p>
        <//>
      `
    }
  `
}

/** @param {{ batch: AdminBatch, onCancel: (batch: AdminBatch) => void }} props */
const Row = ({ batch, onCancel }) => {
  const { id, user, user_name, group, created_at, cancelled_at, ended_at, due_at, counts } = batch
  const state = cancelled_at ? 'cancelled' : ended_at ? 'ended' : 'running'
  const shown = /** @type {[Count, number][]} */ (Object.entries(counts)).filter(([, count]) => count > 0)
  return html`
    <li>
      <div class="item-text">
        <p class="name"><code>${id}</code> <span class=${`badge${state === 'running' ? ' Processing' : ''}`}>${w.decisions.batchState[state]}</span></p>
        <p class="hint">
          <span>${w.decisions.user}${t.colon}<a href=${linkToAdmin(['users', user])}>${user_name ?? user}</a></span>
          <span>${w.decisions.batchGroup}${t.colon}<code>${group}</code></span>
          ${shown.map(([name, count]) => html`<span key=${name}>${w.decisions.counts[name](formatNumber(count))}</span>`)}
        </p>
        <p class="hint">
          <span>${w.decisions.created} <${Time} at=${created_at} /></span>
          ${ended_at && html`<span>${w.decisions.ended} <${Time} at=${ended_at} /></span>`}
          ${due_at && html`<span>${w.decisions.batchDue} <${Time} at=${due_at} /></span>`}
        </p>
      </div>
      ${
        state === 'running' &&
        html`<div class="actions"><button type="button" class="small danger" aria-label=${w.decisions.cancelOf(id)} onClick=${() => onCancel(batch)}>${w.decisions.cancel}</button></div>`
      }
    </li>
  `
}
