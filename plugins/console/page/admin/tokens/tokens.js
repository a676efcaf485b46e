import { useRef, useState } from 'preact/hooks'
import { serverNow } from '../../api/clock.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { showToast } from '../../controls/toast.js'
import { formatTime, parseTime } from '../../words/format.js'
import { t } from '../../words/words.js'
import { LimitList } from '../limits/limit-list.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { Choice, FaultDialog } from '../parts/form.js'
import { Pages, useList } from '../parts/list.js'
import { ShownOnce } from '../parts/secret.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'
import { stateOf } from './token.js'
import { TokenForm } from './token-form.js'

/** @typedef {import('./token.js').Token} Token */
/** @typedef {import('./token.js').IssuedToken} IssuedToken */

/**
 * The tokens of a user.
 * @param {{ user: import('../people/users.js').User }} props
 */
export const Tokens = ({ user }) => {
  const admin = useAdminApi()
  const list = useList(pathWith`/users/${user.id}/tokens`, 'tokens')
  const [open, setOpen] = useState(
    /** @type {{ action: 'create' | 'edit' | 'rotate' | 'revoke', token?: Token } | undefined} */ (undefined),
  )
  const [issued, setIssued] = useState(/** @type {{ token: IssuedToken, title: string } | undefined} */ (undefined))
  const key = useRef({ body: '', id: '' })
  const close = () => setOpen(undefined)
  const token = open?.token
  const path = pathWith`/tokens/${token?.id ?? ''}`
  /** @type {readonly Token[] | undefined} */
  const tokens = list.items

  const create = async (/** @type {object} */ fields) => {
    const text = JSON.stringify(fields)
    if (key.current.body !== text) key.current = { body: text, id: crypto.randomUUID() }
    const response = await admin.send('POST', pathWith`/users/${user.id}/tokens`, fields, key.current.id)
    key.current = { body: '', id: '' }
    list.reload()
    close()
    if (response.token.token) setIssued({ token: response.token, title: w.tokens.created })
  }
  const edit = async (/** @type {object} */ changes) => {
    if (Object.keys(changes).length > 0) await admin.send('PATCH', path, changes)
    list.reload()
    close()
    showToast(w.user.saved)
  }
  const rotate = async (/** @type {Record<string, string>} */ { overlap }) => {
    const response = await admin.send('POST', `${path}/rotate`, { overlap_seconds: Number(overlap) })
    list.reload()
    setIssued({ token: response.token, title: w.tokens.rotated })
  }
  const revoke = async () => {
    await admin.send('DELETE', path)
    list.reload()
    showToast(w.tokens.revokedToast)
  }
  return html`
    <section>
      <div class="heading">
        <h2>${w.tokens.title}</h2>
        <button type="button" onClick=${() => setOpen({ action: 'create' })}><${Icon} name="add" />${w.tokens.create}</button>
      </div>
      <${Failure} message=${list.error} retry=${list.reload} />
      ${!tokens && list.busy && html`<${Loading} kind="rows" count=${1} />`}
      ${
        tokens &&
        (tokens.length > 0
          ? html`<ul class="rows">${tokens.map((one) => html`<${Row} key=${one.id} token=${one} onOpen=${setOpen} />`)}</ul>`
          : html`<${Empty} icon="tokens" title=${w.tokens.empty}><p>${w.tokens.emptyHint}</p><//>`)
      }
      <${Pages} list=${list} />
    </section>
    ${open?.action === 'create' && html`<${TokenForm} title=${w.tokens.createTitle(user.name)} submitLabel=${w.tokens.create} isAdmin=${user.role === 'admin'} save=${create} onClose=${close} />`}
    ${open?.action === 'edit' && html`<${TokenForm} title=${w.tokens.editOf(nameOf(token))} submitLabel=${t.save} token=${token} isAdmin=${user.role === 'admin'} save=${edit} onClose=${close} />`}
    ${
      open?.action === 'rotate' &&
      html`
        <${FaultDialog} title=${w.tokens.rotateOf(nameOf(token))} submitLabel=${w.tokens.rotate} action=${rotate} onClose=${close}>
          <p>${w.tokens.rotateLead}</p>
          <${Choice} label=${w.tokens.overlap} name="overlap" choices=${Object.entries(w.tokens.overlaps)} />
        <//>
      `
    }
    ${
      open?.action === 'revoke' &&
      html`
        <${ConfirmByName} title=${w.tokens.revokeOf(nameOf(token))} submitLabel=${w.tokens.revoke} name=${nameOf(token)} action=${revoke} onClose=${close}>
          <p>${w.tokens.revokeWarning}</p>
        <//>
      `
    }
    ${!open && issued && html`<${Issued} ...${issued} onClose=${() => setIssued(undefined)} />`}
  `
}

/** The label of a token, or its first characters. @param {Token | undefined} token */
const nameOf = (token) => token?.label || token?.start || ''

/** @param {{ token: IssuedToken, title: string, onClose: () => void }} props */
const Issued = ({ token, title, onClose }) => {
  const old = parseTime(token.old_secret_until)
  return html`
    <${ShownOnce} title=${title} secret=${token.token ?? ''} onClose=${onClose}>
      <p>${w.tokens.shownOnce}</p>
      ${old && html`<p>${w.tokens.oldWorksUntil} ${formatTime(old)}.</p>`}
    <//>
  `
}

/** @param {{ token: Token, onOpen: (open: { action: 'edit' | 'rotate' | 'revoke', token: Token }) => void }} props */
const Row = ({ token, onOpen }) => {
  const state = stateOf(token, serverNow())
  const name = nameOf(token)
  const { label, start, scopes, models, limits, expires_at, last_used_at, old_secret_until } = token
  return html`
    <li>
      <div class="item-text">
        <p class="name">${label || w.tokens.unnamed} ${state !== 'valid' && html`<span class="badge disabled">${w.tokens.states[state]}</span>`}</p>
        <p class="hint">
          <code>${start}…</code>
          <span>${scopes.join(', ')}</span>
          <span>${models ? models.join(', ') : w.tokens.allModels}</span>
        </p>
        <p class="hint">
          <span>${expires_at ? html`${w.tokens.validUntil} <${Time} at=${expires_at} />` : w.tokens.neverExpires}</span>
          <span>${last_used_at ? html`${w.tokens.lastUsed} <${Time} at=${last_used_at} />` : w.tokens.neverUsed}</span>
          ${old_secret_until && html`<span>${w.tokens.oldWorksUntil} <${Time} at=${old_secret_until} /></span>`}
        </p>
        ${limits && limits.length > 0 && html`<div class="hint"><${LimitList} limits=${limits} /></div>`}
      </div>
      ${
        state !== 'revoked' &&
        html`
          <div class="actions">
            <button type="button" class="small" aria-label=${w.tokens.editOf(name)} onClick=${() => onOpen({ action: 'edit', token })}>${w.tokens.edit}</button>
            <button type="button" class="small" aria-label=${w.tokens.rotateOf(name)} onClick=${() => onOpen({ action: 'rotate', token })}>${w.tokens.rotate}</button>
            <button type="button" class="small danger" aria-label=${w.tokens.revokeOf(name)} onClick=${() => onOpen({ action: 'revoke', token })}>${w.tokens.revoke}</button>
          </div>
        `
      }
    </li>
  `
}
