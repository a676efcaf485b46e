import { useState } from 'preact/hooks'
import { Select } from '../../controls/field.js'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { t } from '../../words/words.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { FaultDialog, Input } from '../parts/form.js'
import { List, useList } from '../parts/list.js'
import { linkToAdmin, useQuery } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { UserPicker, useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'

/** @typedef {keyof typeof w.decisions.statuses} Status */
/**
 * @typedef {object} AdminVideo
 * @property {string} id
 * @property {string} user
 * @property {string | null} user_name
 * @property {string} model
 * @property {Exclude<Status, 'undecided' | 'all'>} status
 * @property {string} phase
 * @property {string} created_at
 * @property {string | null} ended_at
 * @property {string | null} upstream_id
 * @property {string | null} error_code
 * @property {keyof typeof w.decisions.reasons | null} undecided
 */

const names = /** @type {const} */ (['user', 'status'])

/** The videos of all users; at first those that need a decision. */
export const AdminVideos = () => {
  const admin = useAdminApi()
  const [query, setQuery] = useQuery(names)
  const user = useUserById(query.user)
  // A link that names a user shows all videos of that user.
  const status = query.status ?? (query.user ? 'all' : 'undecided')
  const list = useList('/videos', 'videos', { user: query.user, status: status === 'all' ? '' : status })
  const [open, setOpen] = useState(
    /** @type {{ action: 'adopt' | 'release', video: AdminVideo } | undefined} */ (undefined),
  )
  const close = () => setOpen(undefined)
  const path = pathWith`/videos/${open?.video.id ?? ''}`

  const adopt = async (/** @type {Record<string, string>} */ { upstream_id }) => {
    await admin.send('POST', `${path}/adopt`, { upstream_id })
    list.reload()
    showToast(w.decisions.adopted)
  }
  const release = async () => {
    await admin.send('POST', `${path}/release`)
    list.reload()
    showToast(w.decisions.released)
  }
  const isUndecided = status === 'undecided'
  return html`
    <div class="filters">
      <${Select} label=${w.decisions.show} value=${status} choices=${Object.entries(w.decisions.statuses)} onChange=${(/** @type {Event} */ event) => setQuery({ status: /** @type {HTMLSelectElement} */ (event.currentTarget).value })} />
      <${UserPicker} label=${w.decisions.user} name="filter-user" value=${user} onPick=${(/** @type {{ id: string } | undefined} */ picked, /** @type {string} */ text) => (picked || text === '') && setQuery({ user: picked?.id ?? '', status })} />
    </div>
    <${List} list=${list} icon=${isUndecided ? 'check' : 'videos'} title=${isUndecided ? w.decisions.undecidedEmpty : w.decisions.videosEmpty} hint=${isUndecided ? w.decisions.undecidedEmptyHint : w.decisions.videosEmptyHint}
      rows=${(/** @type {readonly AdminVideo[]} */ videos) => html`<ul class="rows">${videos.map((video) => html`<${Row} key=${video.id} video=${video} isOpen=${isUndecided} onOpen=${setOpen} />`)}</ul>`} />
    ${
      open?.action === 'adopt' &&
      html`
        <${FaultDialog} title=${w.decisions.adoptVideoTitle} submitLabel=${w.decisions.adopt} action=${adopt} onClose=${close}>
          <p>${w.decisions.adoptVideoLead}</p>
          <${Input} label=${w.decisions.upstreamId} hint=${w.decisions.upstreamIdHint} name="upstream_id" defaultValue=${open.video.upstream_id ?? ''} maxlength="256" autocomplete="off" spellcheck=${false} />
        <//>
      `
    }
    ${
      open?.action === 'release' &&
      html`
        <${ConfirmByName} title=${w.decisions.releaseVideoTitle} submitLabel=${w.decisions.release} name=${open.video.user_name ?? open.video.id} action=${release} onClose=${close}>
          <p>${w.decisions.releaseVideoWarning}</p>
        <//>
      `
    }
  `
}

/**
 * @param {{ video: AdminVideo, isOpen: boolean, onOpen: (open: { action: 'adopt' | 'release', video: AdminVideo }) =>
 * void }} props `isOpen`: whether it is in the list of those that need a decision
 */
const Row = ({ video, isOpen, onOpen }) => {
  const { id, user, user_name, model, status, created_at, ended_at, upstream_id, error_code, undecided } = video
  return html`
    <li>
      <div class="item-text">
        <p class="name"><code>${id}</code> <span class=${`badge${status === 'succeeded' ? ' active' : status === 'failed' ? ' disabled' : ''}`}>${w.decisions.statuses[status]}</span></p>
        <p class="hint">
          <span>${w.decisions.user}${t.colon}<a href=${linkToAdmin(['users', user])}>${user_name ?? user}</a></span>
          <span>${model}</span>
          ${upstream_id && html`<span>${w.decisions.upstreamId}${t.colon}<code>${upstream_id}</code></span>`}
          ${error_code && html`<span>${w.decisions.error}${t.colon}<code>${error_code}</code></span>`}
        </p>
        <p class="hint">
          <span>${w.decisions.created} <${Time} at=${created_at} /></span>
          ${ended_at && html`<span>${w.decisions.ended} <${Time} at=${ended_at} /></span>`}
          ${undecided && html`<strong>${w.decisions.reasons[undecided]}</strong>`}
        </p>
      </div>
      ${
        (isOpen || undecided) &&
        html`
          <div class="actions">
            <button type="button" class="small" aria-label=${w.decisions.adoptOf(id)} onClick=${() => onOpen({ action: 'adopt', video })}>${w.decisions.adopt}</button>
            <button type="button" class="small danger" aria-label=${w.decisions.releaseOf(id)} onClick=${() => onOpen({ action: 'release', video })}>${w.decisions.release}</button>
          </div>
        `
      }
    </li>
  `
}
