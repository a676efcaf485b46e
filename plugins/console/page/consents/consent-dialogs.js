import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { CopyButton } from '../controls/copy-button.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { showToast } from '../controls/toast.js'
import { QrCode } from '../face/qr-code.js'
import { useApi } from '../frame/hooks.js'
import { t } from './words.js'

/** @typedef {'withdraw' | 'delete' | 'link' | undefined} Open */

/**
 * What an owner does for the person.
 * @param {{ open: Open, path: string, name: string, onChange: (consent: import('./consent.js').Consent) => void, onClose:
 * () => void }} props `path`: of the consent. `name`: of the group
 */
export const ConsentDialogs = ({ open, path, name, onChange, onClose }) => {
  const api = useApi()
  const [link, setLink] = useState(/** @type {string | undefined} */ (undefined))
  const post = async (/** @type {string} */ action) =>
    (await api.requestWithToken(`${path}/${action}`, { method: 'POST' })).Result
  const withdraw = async () => {
    onChange(await post('withdraw'))
    showToast(t.consents.withdrawnToast)
  }
  const remove = async (/** @type {Record<string, string>} */ { typed }) => {
    if (typed !== name.trim()) throw new ApiError(0, t.groups.otherName)
    onChange(await post('delete'))
    showToast(t.consents.deletingToast)
  }
  const addLink = async () => {
    const { URL } = await post('links').catch((error) => {
      // A rate limit says when to try again; the maximum of links does not.
      const isFull = error instanceof ApiError && error.status === 429 && error.retryAfter === undefined
      throw isFull ? new ApiError(400, t.consents.tooManyLinks) : error
    })
    setLink(URL)
  }
  return html`
    ${
      open === 'withdraw' &&
      html`<${FormDialog} danger title=${t.consents.withdraw} submitLabel=${t.consents.withdraw} action=${withdraw} onClose=${onClose}><p>${t.consents.withdrawWarning}</p><//>`
    }
    ${
      open === 'delete' &&
      html`
        <${FormDialog} danger title=${t.consents.deleteTitle} submitLabel=${t.consents.delete} action=${remove} onClose=${onClose}>
          <p>${t.consents.deleteWarning}</p>
          <${Field} label=${t.groups.typeName(name)} name="typed" autocomplete="off" spellcheck=${false} required />
        <//>
      `
    }
    ${
      open === 'link' &&
      html`<${FormDialog} title=${t.consents.link} submitLabel=${t.consents.makeLink} action=${addLink} onClose=${onClose}><p>${t.consents.makeLinkLead}</p><//>`
    }
    ${
      !open &&
      link !== undefined &&
      html`
        <${Dialog} title=${t.consents.link} onClose=${() => setLink(undefined)}>
          <p>${t.consents.linkLead}</p>
          <${QrCode} text=${link} label=${t.consents.linkQr} />
          <p class="secret"><code>${link}</code></p>
          <div class="actions">
            <${CopyButton} text=${link} label=${t.copy} size="" autofocus />
            <button type="button" class="primary" onClick=${() => setLink(undefined)}>${t.done}</button>
          </div>
        <//>
      `
    }
  `
}
