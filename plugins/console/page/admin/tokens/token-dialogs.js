import { useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { showToast } from '../../controls/toast.js'
import { formatTime, parseTime } from '../../words/format.js'
import { t } from '../../words/words.js'
import { pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { Choice, FaultDialog } from '../parts/form.js'
import { ShownOnce } from '../parts/secret.js'
import { useUserById } from '../parts/user-picker.js'
import { w } from '../words/words.js'
import { nameOf } from './token.js'
import { TokenForm } from './token-form.js'

/** @typedef {import('./token.js').Token} Token */
/** @typedef {import('./token.js').IssuedToken} IssuedToken */
/** @typedef {{ action: 'edit' | 'rotate' | 'revoke', token: Token }} Open */

/**
 * The dialogs that change, rotate and revoke a token.
 * @param {{ open: Open | undefined, onClose: () => void, onChanged: () => void }} props
 */
export const TokenDialogs = ({ open, onClose, onChanged }) => {
  const admin = useAdminApi()
  const [issued, setIssued] = useState(/** @type {IssuedToken | undefined} */ (undefined))
  const token = open?.token
  const owner = /** @type {{ role?: string } | undefined} */ (
    useUserById(open?.action === 'edit' ? token?.user : undefined)
  )
  const path = pathWith`/tokens/${token?.id ?? ''}`
  const edit = async (/** @type {object} */ changes) => {
    if (Object.keys(changes).length > 0) await admin.send('PATCH', path, changes)
    onChanged()
    onClose()
    showToast(w.user.saved)
  }
  const rotate = async (/** @type {Record<string, string>} */ { overlap }) => {
    const response = await admin.send('POST', `${path}/rotate`, { overlap_seconds: Number(overlap) })
    onChanged()
    setIssued(response.token)
  }
  const revoke = async () => {
    await admin.send('DELETE', path)
    onChanged()
    showToast(w.tokens.revokedToast)
  }
  return html`
    ${open?.action === 'edit' && html`<${TokenForm} title=${w.tokens.editOf(nameOf(token))} submitLabel=${t.save} token=${token} isAdmin=${owner?.role !== 'user'} save=${edit} onClose=${onClose} />`}
    ${
      open?.action === 'rotate' &&
      html`
        <${FaultDialog} title=${w.tokens.rotateOf(nameOf(token))} submitLabel=${w.tokens.rotate} action=${rotate} onClose=${onClose}>
          <p>${w.tokens.rotateLead}</p>
          <${Choice} label=${w.tokens.overlap} name="overlap" choices=${Object.entries(w.tokens.overlaps)} />
        <//>
      `
    }
    ${
      open?.action === 'revoke' &&
      html`
        <${ConfirmByName} title=${w.tokens.revokeOf(nameOf(token))} submitLabel=${w.tokens.revoke} name=${nameOf(token)} action=${revoke} onClose=${onClose}>
          <p>${w.tokens.revokeWarning}</p>
        <//>
      `
    }
    ${!open && issued && html`<${IssuedSecret} token=${issued} title=${w.tokens.rotated} onClose=${() => setIssued(undefined)} />`}
  `
}

/**
 * The secret of a token, which is shown once.
 * @param {{ token: IssuedToken, title: string, onClose: () => void }} props
 */
export const IssuedSecret = ({ token, title, onClose }) => {
  const old = parseTime(token.old_secret_until)
  return html`
    <${ShownOnce} title=${title} secret=${token.token ?? ''} onClose=${onClose}>
      <p>${w.tokens.shownOnce}</p>
      ${old && html`<p>${w.tokens.oldWorksUntil} ${formatTime(old)}.</p>`}
    <//>
  `
}
