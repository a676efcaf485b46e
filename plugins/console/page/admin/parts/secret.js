import { CopyButton } from '../../controls/copy-button.js'
import { Dialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { t } from '../../words/words.js'

/**
 * Shows something that the server does not show again. The page drops it when the dialog closes.
 * @param {{ title: string, secret: string, onClose: () => void, children?: unknown }} props `children`: what it is for
 */
export const ShownOnce = ({ title, secret, onClose, children }) => html`
  <${Dialog} title=${title} onClose=${onClose}>
    ${children}
    <p class="secret"><code>${secret}</code></p>
    <div class="actions">
      <${CopyButton} text=${secret} label=${t.copy} size="" autofocus />
      <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
    </div>
  <//>
`
