import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { showToast } from '../../controls/toast.js'
import { t } from '../../words/words.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { Choice, FaultDialog, Input } from '../parts/form.js'
import { List, useList } from '../parts/list.js'
import { Time } from '../parts/time.js'
import { UserPicker, userNamed } from '../parts/user-picker.js'
import { w } from '../words/words.js'

/**
 * @typedef {object} Pending
 * @property {string} id
 * @property {string} user
 * @property {string | null} user_name
 * @property {string} type
 * @property {string} name
 * @property {'pending' | 'unresolved'} state
 * @property {string | null} renames
 * @property {string | null} group
 * @property {string} created_at
 * @property {string} due_at
 */

const nothing = () => {}

/** Creations and renames of groups whose outcome is unknown. */
export const PendingGroups = () => {
  const admin = useAdminApi()
  const list = useList('/groups/pending', 'pending')
  const [open, setOpen] = useState(
    /** @type {{ action: 'adopt' | 'release' | 'give', pending?: Pending } | undefined} */ (undefined),
  )
  const close = () => setOpen(undefined)
  const pending = open?.pending
  const path = pathWith`/groups/pending/${pending?.id ?? ''}`

  const adopt = async (/** @type {Record<string, string>} */ { user: name = '', group_id }) => {
    // The owner of a host app has no name here.
    const isOwn = name === (pending?.user_name ?? pending?.user)
    const user = isOwn ? pending?.user : (await userNamed(admin, name)).id
    await admin.send('POST', `${path}/adopt`, { user, group_id })
    list.reload()
    showToast(w.decisions.adopted)
  }
  const release = async () => {
    await admin.send('POST', `${path}/release`)
    list.reload()
    showToast(w.decisions.released)
  }
  const give = async (/** @type {Record<string, string>} */ { user: name = '', group_id, type, name: groupName }) => {
    const user = (await userNamed(admin, name)).id
    await admin.send('POST', '/groups/adopt', { user, group_id, type, name: groupName })
    showToast(w.decisions.given)
  }
  return html`
    <div class="actions list-actions">
      <button type="button" onClick=${() => setOpen({ action: 'give' })}><${Icon} name="add" />${w.decisions.give}</button>
    </div>
    <${List} list=${list} icon="check" title=${w.decisions.groupsEmpty} hint=${w.decisions.groupsEmptyHint}
      rows=${(/** @type {readonly Pending[]} */ items) => html`<ul class="rows">${items.map((one) => html`<${Row} key=${one.id} pending=${one} onOpen=${setOpen} />`)}</ul>`} />
    ${
      open?.action === 'adopt' &&
      pending &&
      html`
        <${FaultDialog} title=${w.decisions.adoptTitle(pending.name)} submitLabel=${w.decisions.adopt} action=${adopt} onClose=${close}>
          <p>${w.decisions.adoptLead}</p>
          <${UserPicker} label=${w.decisions.owner} hint=${w.picker.hint} value=${{ id: pending.user, name: pending.user_name ?? pending.user }} onPick=${nothing} />
          <${Input} label=${w.decisions.groupId} hint=${w.decisions.groupIdHint} name="group_id" defaultValue=${pending.group ?? ''} maxlength="256" autocomplete="off" spellcheck=${false} />
        <//>
      `
    }
    ${
      open?.action === 'release' &&
      pending &&
      html`
        <${ConfirmByName} title=${w.decisions.releaseTitle(pending.name)} submitLabel=${w.decisions.release} name=${pending.name} action=${release} onClose=${close}>
          <p>${w.decisions.releaseWarning}</p>
        <//>
      `
    }
    ${
      open?.action === 'give' &&
      html`
        <${FaultDialog} title=${w.decisions.give} submitLabel=${w.decisions.adopt} action=${give} onClose=${close}>
          <p>${w.decisions.giveLead}</p>
          <${UserPicker} label=${w.decisions.owner} hint=${w.picker.hint} onPick=${nothing} />
          <${Input} label=${w.decisions.groupId} hint=${w.decisions.groupIdHint} name="group_id" maxlength="256" autocomplete="off" spellcheck=${false} />
          <${Choice} label=${w.decisions.type} name="type" choices=${Object.entries(w.decisions.types)} />
          <${Input} label=${w.decisions.name} name="name" maxlength="64" autocomplete="off" />
        <//>
      `
    }
  `
}

/** @param {{ pending: Pending, onOpen: (open: { action: 'adopt' | 'release', pending: Pending }) => void }} props */
const Row = ({ pending, onOpen }) => {
  const { name, type, user, user_name, state, renames, group, created_at, due_at } = pending
  return html`
    <li>
      <div class="item-text">
        <p class="name">${name} <span class="badge">${type}</span></p>
        <p class="hint">
          <span>${w.decisions.owner}${t.colon}${user_name ?? user}</span>
          <span>${renames ? w.decisions.renaming(renames) : w.decisions.creation}</span>
          ${group && group !== renames && html`<span>${w.decisions.made(group)}</span>`}
        </p>
        <p class="hint">
          <span>${w.decisions.groupStates[state]}</span>
          <span>${w.decisions.created} <${Time} at=${created_at} /></span>
          <span>${w.decisions.due} <${Time} at=${due_at} /></span>
        </p>
      </div>
      <div class="actions">
        ${!renames && html`<button type="button" class="small" aria-label=${w.decisions.adoptOf(name)} onClick=${() => onOpen({ action: 'adopt', pending })}>${w.decisions.adopt}</button>`}
        <button type="button" class="small danger" aria-label=${w.decisions.releaseOf(name)} onClick=${() => onOpen({ action: 'release', pending })}>${w.decisions.release}</button>
      </div>
    </li>
  `
}
