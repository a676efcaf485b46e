import { useState } from 'preact/hooks'
import { Dialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { formatTime, parseTime } from '../../words/format.js'
import { useCreate } from '../parts/admin-api.js'
import { Choice, FaultForm, Input } from '../parts/form.js'
import { navigateTo } from '../parts/query.js'
import { ShownOnce } from '../parts/secret.js'
import { useTeamChoices } from '../parts/teams-choice.js'
import { w } from '../words/words.js'

/** @typedef {{ url: string | null, expires_at: string }} Invitation */

/**
 * A dialog that creates a user, and shows the link of the invitation.
 * @param {{ onClose: () => void, onCreated: () => void }} props
 */
export const NewUser = ({ onClose, onCreated }) => {
  const send = useCreate()
  const teams = useTeamChoices(w.users.noTeam)
  const [kind, setKind] = useState('person')
  const [team, setTeam] = useState('')
  const [access, setAccess] = useState('invite')
  const [created, setCreated] = useState(/** @type {{ id: string, invitation: Invitation } | undefined} */ (undefined))
  const isPerson = kind === 'person'

  const create = async (/** @type {Record<string, string>} */ fields) => {
    const body = {
      name: fields.name ?? '',
      role: fields.role,
      ...(team && { team }),
      ...(fields.external_id && { external_id: fields.external_id }),
      ...(!isPerson && { service: true }),
      ...(isPerson && access === 'invite' && { invite: true }),
      ...(isPerson && access === 'password' && { password: fields.password ?? '' }),
    }
    const { user, invitation } = await send('/users', body)
    onCreated()
    showToast(w.users.createdToast(user.name))
    if (invitation?.url) setCreated({ id: user.id, invitation })
    else leaveTo(user.id)
  }
  const leaveTo = (/** @type {string} */ id) => {
    onClose()
    navigateTo(['users', id])
  }
  if (created) return html`<${InvitationLink} invitation=${created.invitation} onClose=${() => leaveTo(created.id)} />`
  const choose = (/** @type {(value: string) => void} */ set) => (/** @type {Event} */ event) =>
    set(/** @type {HTMLSelectElement} */ (event.currentTarget).value)
  return html`
    <${Dialog} title=${w.users.create} onClose=${onClose}><${FaultForm} submitLabel=${w.users.create} action=${create} onCancel=${onClose}>
      <${Input} label=${w.users.name} hint=${w.users.nameHint} name="name" maxlength="128" autocomplete="off" autocapitalize="off" spellcheck=${false} />
      <${Choice} label=${w.users.kind} name="kind" value=${kind} onChange=${choose(setKind)} choices=${Object.entries(w.users.kinds)} />
      ${isPerson && html`<${Choice} label=${w.users.access} name="access" value=${access} onChange=${choose(setAccess)} choices=${Object.entries(w.users.accesses)} />`}
      ${isPerson && access === 'password' && html`<${Input} label=${w.users.password} hint=${w.users.passwordHint} name="password" type="password" autocomplete="new-password" />`}
      <div class="two">
        <${Choice} label=${w.users.role} name="role" choices=${Object.entries(w.users.roles)} hint=${w.users.roleHint} />
        <${Choice} label=${w.users.team} name="team" value=${team} choices=${teams} onChange=${choose(setTeam)} />
      </div>
      <${Input} label=${w.users.externalId} hint=${w.users.externalIdHint} name="external_id" maxlength="256" autocomplete="off" />
    <//><//>
  `
}

/**
 * The link of an invitation, which is shown once.
 * @param {{ invitation: Invitation, onClose: () => void }} props
 */
export const InvitationLink = ({ invitation, onClose }) => {
  const until = parseTime(invitation.expires_at)
  return html`
    <${ShownOnce} title=${w.user.inviteTitle} secret=${invitation.url ?? ''} onClose=${onClose}>
      <p>${w.user.inviteHint(until ? formatTime(until) : '')}</p>
    <//>
  `
}
