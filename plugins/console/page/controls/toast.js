import { useEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { Icon } from './icons.js'

const messages = new EventTarget()
const noMessage = { text: '', visible: true, isError: false }
const shownMs = 5_000

/**
 * Shows a short message for a few seconds, and announces it to screen readers.
 * @param {string} text
 * @param {{ visible?: boolean, isError?: boolean }} [options] `visible` false: only announce it, because the screen
 * shows it already. Default true. `isError`: it is an error
 */
export const showToast = (text, { visible = true, isError = false } = {}) => {
  messages.dispatchEvent(new CustomEvent('message', { detail: { text, visible, isError } }))
}

/**
 * The live region of the messages.
 *
 * It must be in the page before its text: screen readers do not announce a region that is added together with a text.
 */
export const Toast = () => {
  const [{ text, visible, isError }, setMessage] = useState(noMessage)
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const onMessage = (/** @type {Event} */ event) => {
      clearTimeout(timer)
      setMessage(/** @type {CustomEvent<typeof noMessage>} */ (event).detail)
      timer = setTimeout(() => setMessage(noMessage), shownMs)
    }
    messages.addEventListener('message', onMessage)
    return () => {
      clearTimeout(timer)
      messages.removeEventListener('message', onMessage)
    }
  }, [])
  return html`
    <div class="toast" role="status">
      ${text && html`<p class=${visible ? '' : 'visually-hidden'}><${Icon} name=${isError ? 'alert' : 'check'} /><span>${text}</span></p>`}
    </div>
  `
}
