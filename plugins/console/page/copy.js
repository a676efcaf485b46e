import { useEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { t } from './strings.js'

const shownMs = 2_500

/**
 * Puts a text on the clipboard, and says so in its own place, which is heard inside of a dialog too. It has the width of its longest label from the start.
 * @param {{ text: string, label: string, title?: string, size?: string, autofocus?: boolean }} props `title` names it, where many say the same
 */
export const CopyButton = ({ text, label, title, size = 'small', autofocus }) => {
  const [said, setSaid] = useState('')
  const copy = async () => {
    // There is no clipboard on a page without https.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setSaid(done ? t.copied : t.notCopied)
  }
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), shownMs)
    return () => clearTimeout(timer)
  }, [said])
  return html`
    <span class="copy">
      <button type="button" class=${size} autofocus=${autofocus} aria-label=${title} onClick=${copy}>
        <span class="label">
          <span hidden=${said !== ''}>${label}</span>
          <span hidden=${said !== t.copied}>${t.copied}</span>
          <span hidden=${said !== t.notCopied}>${t.notCopied}</span>
        </span>
      </button>
      <span class="unseen" role="status">${said}</span>
    </span>
  `
}
