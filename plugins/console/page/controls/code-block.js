import { t } from '../words/words.js'
import { CopyButton } from './copy-button.js'
import { html } from './html.js'

/**
 * Code with a button that copies it. It scrolls by itself, also by keyboard.
 * @param {{ code: string, label?: string }} props `label`: its language
 */
export const CodeBlock = ({ code, label = '' }) => html`
  <figure class="code-block">
    <figcaption><span>${label}</span><${CopyButton} text=${code} label=${t.copy} title=${t.copyCode} /></figcaption>
    <pre tabindex="0"><code>${code}</code></pre>
  </figure>
`
