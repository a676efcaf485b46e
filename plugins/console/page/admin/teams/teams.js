import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { showToast } from '../../controls/toast.js'
import { t } from '../../words/words.js'
import { LimitEditor, limitsOfDraft, useLimitsDraft } from '../limits/limit-editor.js'
import { LimitList } from '../limits/limit-list.js'
import { LimitSettings } from '../limits/limit-settings.js'
import { pathWith, useAdminApi, useCreate } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { FaultDialog, Input } from '../parts/form.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin } from '../parts/query.js'
import { w } from '../words/words.js'

/**
 * @typedef {object} Team
 * @property {string} id
 * @property {string} name
 * @property {readonly import('../limits/limit.js').Limit[] | null} limits
 * @property {number} members
 * @property {string} created_at
 */

/** The teams of the server. */
export const Teams = () => {
  const admin = useAdminApi()
  const send = useCreate()
  const list = useList('/teams', 'teams')
  const [open, setOpen] = useState(
    /** @type {{ action: 'create' | 'edit' | 'delete', team?: Team } | undefined} */ (undefined),
  )
  const close = () => setOpen(undefined)
  const team = open?.team
  const path = pathWith`/teams/${team?.id ?? ''}`
  const create = async (/** @type {object} */ fields) => {
    const created = await send('/teams', fields)
    list.reload()
    showToast(w.teams.created(created.team.name))
  }
  const edit = async (/** @type {object} */ fields) => {
    await admin.send('PATCH', path, fields)
    list.reload()
    showToast(w.user.saved)
  }
  const remove = async () => {
    await admin.send('DELETE', path)
    list.reload()
    showToast(w.teams.deleted(team?.name ?? ''))
  }
  return html`
    <div class="heading">
      <h1 tabindex="-1">${w.sections.teams}</h1>
      <div class="actions">
        <button type="button" class="primary" onClick=${() => setOpen({ action: 'create' })}><${Icon} name="add" />${w.teams.create}</button>
      </div>
    </div>
    <p class="lead">${w.teams.lead}</p>
    <${List} list=${list} icon="groups" title=${w.teams.empty} hint=${w.teams.emptyHint}
      rows=${(/** @type {readonly Team[]} */ teams) => html`<ul class="rows">${teams.map((one) => html`<${Row} key=${one.id} team=${one} onOpen=${setOpen} />`)}</ul>`} />
    <${LimitSettings}>
      ${open?.action === 'create' && html`<${TeamForm} title=${w.teams.create} submitLabel=${w.teams.create} save=${create} onClose=${close} />`}
      ${open?.action === 'edit' && html`<${TeamForm} title=${w.teams.editTitle(team?.name ?? '')} submitLabel=${t.save} team=${team} save=${edit} onClose=${close} />`}
    <//>
    ${
      open?.action === 'delete' &&
      html`
        <${ConfirmByName} title=${w.teams.deleteTitle(team?.name ?? '')} submitLabel=${w.teams.delete} name=${team?.name ?? ''} action=${remove} onClose=${close}>
          <p>${(team?.members ?? 0) > 0 ? w.teams.deleteBlocked(team?.members ?? 0) : w.teams.deleteWarning}</p>
        <//>
      `
    }
  `
}

/** @param {{ team: Team, onOpen: (open: { action: 'edit' | 'delete', team: Team }) => void }} props */
const Row = ({ team, onOpen }) => {
  const { id, name, members, limits } = team
  return html`
    <li>
      <div class="item-text">
        <h2>${name}</h2>
        <p class="hint"><a href=${linkToAdmin(['users'], { team: id })}>${w.teams.members(members)}<span class="visually-hidden"> ${name}</span></a><a href=${linkToAdmin(['usage'], { team: id })}>${w.user.usage}<span class="visually-hidden"> ${name}</span></a></p>
        <div class="hint">${limits && limits.length > 0 ? html`<${LimitList} limits=${limits} />` : w.teams.noLimits}</div>
      </div>
      <div class="actions">
        <button type="button" class="small" aria-label=${w.teams.editOf(name)} onClick=${() => onOpen({ action: 'edit', team })}>${w.teams.edit}</button>
        <button type="button" class="small danger" aria-label=${w.teams.deleteOf(name)} onClick=${() => onOpen({ action: 'delete', team })}>${w.teams.delete}</button>
      </div>
    </li>
  `
}

/**
 * @param {{ title: string, submitLabel: string, team?: Team, save: (fields: object) => Promise<unknown>, onClose: () =>
 * void }} props
 */
const TeamForm = ({ title, submitLabel, team, save, onClose }) => {
  const [draft, setDraft] = useLimitsDraft(team?.limits ?? null, false)
  const submit = async (/** @type {Record<string, string>} */ { name = '' }) => {
    const limits = limitsOfDraft(draft)
    await save({ ...(name !== team?.name && { name }), limits: limits?.length ? limits : null })
  }
  return html`
    <${FaultDialog} wide title=${title} submitLabel=${submitLabel} action=${submit} onClose=${onClose}>
      <${Input} label=${w.users.name} name="name" defaultValue=${team?.name ?? ''} maxlength="128" autocomplete="off" spellcheck=${false} />
      <${LimitEditor} legend=${w.teams.limits} draft=${draft} onChange=${setDraft} />
      <p class="hint">${w.teams.limitsHint}</p>
    <//>
  `
}
