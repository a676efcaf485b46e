import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Failure, Loading } from '../../controls/placeholder.js'
import { showToast } from '../../controls/toast.js'
import { useLoaded } from '../../frame/hooks.js'
import { t } from '../../words/words.js'
import { LimitEditor, limitsOfDraft, useLimitsDraft } from '../limits/limit-editor.js'
import { LimitReport } from '../limits/limit-report.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { FaultDialog } from '../parts/form.js'
import { w } from '../words/words.js'

/** @typedef {import('./users.js').User} User */

/**
 * The limits that apply to a user, and the form of the user's own ones.
 * @param {{ user: User, onChange: (user: User) => void }} props
 */
export const UserLimits = ({ user, onChange }) => {
  const admin = useAdminApi()
  const [editing, setEditing] = useState(false)
  const path = pathWith`/users/${user.id}`
  const loaded = useLoaded(
    async (signal) =>
      /** @type {readonly import('../limits/limit-report.js').LimitUse[]} */ (
        (await admin.read(`${path}/limits`, {}, signal)).limits
      ),
    [user.id, JSON.stringify(user.limits), user.team],
  )
  const save = async (/** @type {readonly import('../limits/limit.js').Limit[] | null} */ limits) => {
    onChange((await admin.send('PATCH', path, { limits })).user)
    showToast(w.limits.saved)
  }
  return html`
    <section>
      <div class="heading">
        <h2>${w.limits.title}</h2>
        <button type="button" onClick=${() => setEditing(true)}>${w.limits.edit}</button>
      </div>
      <${Failure} message=${loaded.error} retry=${loaded.reload} />
      ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" count=${1} />`}
      ${loaded.value && (loaded.value.length > 0 ? html`<${LimitReport} limits=${loaded.value} />` : html`<p class="lead">${w.limits.noneApply}</p>`)}
      ${editing && html`<${EditLimits} name=${user.name} limits=${user.limits} save=${save} onClose=${() => setEditing(false)} />`}
    </section>
  `
}

/**
 * @param {{ name: string, limits: User['limits'], save: (limits: User['limits']) => Promise<unknown>, onClose: () =>
 * void }} props
 */
const EditLimits = ({ name, limits, save, onClose }) => {
  const [draft, setDraft] = useLimitsDraft(limits, true)
  return html`
    <${FaultDialog} wide title=${w.limits.editTitle(name)} submitLabel=${t.save} action=${() => save(limitsOfDraft(draft))} onClose=${onClose}>
      <${LimitEditor} hasDefault draft=${draft} onChange=${setDraft} />
    <//>
  `
}
