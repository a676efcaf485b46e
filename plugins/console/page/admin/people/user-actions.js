import { useState } from 'preact/hooks'
import { FormDialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { useAction } from '../../frame/hooks.js'
import { t } from '../../words/words.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { Choice, FaultDialog, Input } from '../parts/form.js'
import { useTeamChoices } from '../parts/teams-choice.js'
import { w } from '../words/words.js'
import { InvitationLink } from './new-user.js'

/** @typedef {import('./users.js').User} User */

/**
 * What an operator can do with a user.
 * @param {{ user: User, onChange: (user: User) => void }} props
 */
export const UserActions = ({ user, onChange }) => {
  const admin = useAdminApi()
  const [open, setOpen] = useState(/** @type {'' | 'edit' | 'invite' | 'password' | 'logout' | 'disable'} */ (''))
  const [invitation, setInvitation] = useState(
    /** @type {import('./new-user.js').Invitation | undefined} */ (undefined),
  )
  const { id, name, service, disabled_at } = user
  const path = pathWith`/users/${id}`
  const close = () => setOpen('')
  const change = async (/** @type {object} */ changes) => onChange((await admin.send('PATCH', path, changes)).user)
  const enabling = useAction(async () => {
    try {
      await change({ disabled: false })
    } catch (error) {
      showToast(error instanceof Error ? error.message : '', { isError: true })
      throw error
    }
    showToast(w.user.enabledToast(name))
  })
  const disable = async () => {
    await change({ disabled: true })
    showToast(w.user.disabledToast(name))
  }
  const logout = async () => {
    await admin.send('DELETE', `${path}/sessions`)
    showToast(w.user.loggedOut(name))
  }
  const invite = async () => setInvitation((await admin.send('POST', `${path}/invitation`)).invitation)
  const setPassword = async (/** @type {Record<string, string>} */ { password }) => {
    await change({ password })
    showToast(w.user.passwordSet)
  }
  return html`
    <div class="actions list-actions">
      <button type="button" onClick=${() => setOpen('edit')}>${w.user.edit}</button>
      ${
        !service &&
        html`
          <button type="button" onClick=${() => setOpen('invite')}>${w.user.invite}</button>
          <button type="button" onClick=${() => setOpen('password')}>${w.user.setPassword}</button>
          <button type="button" onClick=${() => setOpen('logout')}>${w.user.logout}</button>
        `
      }
      ${
        disabled_at
          ? html`<button type="button" aria-disabled=${enabling.busy} onClick=${() => enabling.run()}>${w.user.enable}</button>`
          : html`<button type="button" class="danger" onClick=${() => setOpen('disable')}>${w.user.disable}</button>`
      }
    </div>
    ${open === 'edit' && html`<${EditUser} user=${user} change=${change} onClose=${close} />`}
    ${
      open === 'invite' &&
      html`
        <${FaultDialog} title=${w.user.inviteTitle} submitLabel=${w.user.inviteSubmit} action=${invite} onClose=${close}>
          <p>${w.user.inviteWarning}</p>
        <//>
      `
    }
    ${!open && invitation && html`<${InvitationLink} invitation=${invitation} onClose=${() => setInvitation(undefined)} />`}
    ${
      open === 'password' &&
      html`
        <${FaultDialog} title=${w.user.setPasswordTitle(name)} submitLabel=${w.user.setPassword} action=${setPassword} onClose=${close}>
          <p>${w.user.setPasswordWarning}</p>
          <${Input} label=${w.users.password} hint=${w.users.passwordHint} name="password" type="password" autocomplete="new-password" />
        <//>
      `
    }
    ${
      open === 'logout' &&
      html`
        <${FormDialog} danger title=${w.user.logout} submitLabel=${w.user.logout} action=${logout} onClose=${close}>
          <p>${w.user.logoutWarning(name)}</p>
        <//>
      `
    }
    ${
      open === 'disable' &&
      html`
        <${ConfirmByName} title=${w.user.disableTitle(name)} submitLabel=${w.user.disable} name=${name} action=${disable} onClose=${close}>
          <p>${w.user.disableWarning}</p>
        <//>
      `
    }
  `
}

/** @param {{ user: User, change: (changes: object) => Promise<unknown>, onClose: () => void }} props */
const EditUser = ({ user, change, onClose }) => {
  const teams = useTeamChoices(w.users.noTeam, user.team ? { id: user.team, name: user.team_name } : undefined)
  // The other teams may be loaded after the choice.
  const [team, setTeam] = useState(user.team ?? '')
  const save = async (/** @type {Record<string, string>} */ { name = '', role, external_id = '' }) => {
    const changes = {
      ...(name !== user.name && { name }),
      ...(role !== user.role && { role }),
      ...(team !== (user.team ?? '') && { team: team || null }),
      ...(external_id !== (user.external_id ?? '') && { external_id: external_id || null }),
    }
    if (Object.keys(changes).length > 0) await change(changes)
    showToast(w.user.saved)
  }
  return html`
    <${FaultDialog} title=${w.user.editTitle(user.name)} submitLabel=${t.save} action=${save} onClose=${onClose}>
      <${Input} label=${w.users.name} name="name" defaultValue=${user.name} maxlength="128" autocomplete="off" spellcheck=${false} />
      <div class="two">
        <${Choice} label=${w.users.role} name="role" value=${user.role} choices=${Object.entries(w.users.roles)} hint=${w.users.roleHint} />
        <${Choice} label=${w.users.team} name="team" value=${team} choices=${teams} onChange=${(/** @type {Event} */ event) => setTeam(/** @type {HTMLSelectElement} */ (event.currentTarget).value)} />
      </div>
      <${Input} label=${w.users.externalId} hint=${w.users.externalIdHint} name="external_id" defaultValue=${user.external_id ?? ''} maxlength="256" autocomplete="off" />
    <//>
  `
}
