import { useState } from 'preact/hooks'
import { CopyButton } from '../../controls/copy-button.js'
import { Dialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { useApi } from '../../frame/hooks.js'
import { formatNumber } from '../../words/format.js'
import { t } from '../../words/words.js'
import { addressOf, useAdminApi } from '../parts/admin-api.js'
import { FieldFault } from '../parts/faults.js'
import { FaultForm, Input } from '../parts/form.js'
import { w } from '../words/words.js'

/**
 * @typedef {object} Report
 * @property {readonly string[]} problems
 * @property {number} verified
 * @property {string} head
 * @property {number} removed
 * @property {number} without_hmac
 */

/** Longer files are verified by the command line. */
const maxFileBytes = 16_777_216

/**
 * Verifies the audit trail, or a file that the command line has exported, and shows the result.
 * @param {{ onClose: () => void }} props
 */
export const Verification = ({ onClose }) => {
  const [api, admin] = [useApi(), useAdminApi()]
  const [report, setReport] = useState(/** @type {Report | undefined} */ (undefined))
  const verify = async (/** @type {Record<string, string>} */ { head = '' }, /** @type {HTMLFormElement} */ form) => {
    if (head !== '' && !/^\d{1,15}:[\da-f]{64}$/.test(head)) throw new FieldFault('head', w.audit.headFault)
    const path = '/audit/verification'
    const chosen = new FormData(form).get('file')
    if (!(chosen instanceof File) || chosen.size === 0)
      return setReport((await admin.read(path, { head })).verification)
    if (chosen.size > maxFileBytes) throw new FieldFault('file', w.audit.fileTooLarge)
    const file = new File([chosen], 'audit.jsonl', { type: 'application/x-ndjson' })
    const signal = new AbortController().signal
    setReport((await api.upload(addressOf(path, { head }), file, { onProgress: () => {}, signal })).verification)
  }
  return html`
    <${Dialog} title=${w.audit.verifyTitle} onClose=${onClose}>
      ${
        report
          ? html`<${Result} report=${report} onClose=${onClose} />`
          : html`
              <${FaultForm} submitLabel=${w.audit.verify} action=${verify} onCancel=${onClose}>
                <p>${w.audit.verifyLead}</p>
                <${Input} label=${w.audit.file} hint=${w.audit.fileHint} name="file" type="file" accept=".jsonl,.ndjson,.json,.txt,application/x-ndjson" />
                <${Input} label=${w.audit.head} hint=${w.audit.headHint} name="head" maxlength="80" autocomplete="off" spellcheck=${false} />
              <//>
            `
      }
    <//>
  `
}

/** @param {{ report: Report, onClose: () => void }} props */
const Result = ({ report: { problems, verified, head, removed, without_hmac }, onClose }) => html`
  <div role="status">
    <p class=${problems.length === 0 ? 'calm' : 'bad'}><${Icon} name=${problems.length === 0 ? 'check' : 'alert'} /><strong>${problems.length === 0 ? w.audit.intact : w.audit.damaged}</strong></p>
    ${problems.length > 0 && html`<ul class="problems">${problems.map((problem) => html`<li key=${problem}>${problem}</li>`)}</ul>`}
    <p>${w.audit.verified(formatNumber(verified))}</p>
    ${removed > 0 && html`<p class="hint">${w.audit.removed(formatNumber(removed))}</p>`}
    ${without_hmac > 0 && html`<p class="hint">${w.audit.withoutHmac(formatNumber(without_hmac))}</p>`}
    <p>${w.audit.keepHead}</p>
    <p class="secret"><code>${head}</code></p>
  </div>
  <div class="actions">
    <${CopyButton} text=${head} label=${t.copy} size="" autofocus />
    <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
  </div>
`
