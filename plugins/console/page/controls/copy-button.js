import { useEffect, useState } from 'preact/hooks'
import { t } from '../words/words.js'
import { html } from './html.js'

const shownMs = 2_500

/**
 * A button that copies a text to the clipboard. Its label shows the result, and its own status region announces it,
 * also inside a dialog.
 *
 * All labels are in the layout from the start, so the button does not change its width.
 * @param {{ text: string, label: string, title?: string, size?: string, autofocus?: boolean }} props `title` is the
 * accessible name, when several buttons have the same label
 */
export const CopyButton = ({ text, label, title, size = 'small', autofocus }) => {
  const [result, setResult] = useState('')
  const copy = async () => {
    // Browsers offer no clipboard to a page without https.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setResult(copied ? t.copied : t.copyFailed)
  }
  useEffect(() => {
    if (result === '') return
    const timer = setTimeout(() => setResult(''), shownMs)
    return () => clearTimeout(timer)
  }, [result])
  return html`
    <span class="copy">
      <button type="button" class=${size} autofocus=${autofocus} aria-label=${title} onClick=${copy}>
        <span class="label">
          <span hidden=${result !== ''}>${label}</span>
          <span hidden=${result !== t.copied}>${t.copied}</span>
          <span hidden=${result !== t.copyFailed}>${t.copyFailed}</span>
        </span>
      </button>
      <span class="visually-hidden" role="status">${result}</span>
    </span>
  `
}
