import { useEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { Icon } from './icons.js'

const messages = new EventTarget()
const noMessage = { text: '', seen: true, bad: false }
const shownMs = 5_000

/**
 * Shows a short message for a few seconds, and announces it to screen readers.
 * @param {string} text
 * @param {{ seen?: boolean, bad?: boolean }} [options] `seen` false: only announce it, because the screen shows it already. Default true. `bad`: it is an error
 */
export const say = (text, { seen = true, bad = false } = {}) => {
  messages.dispatchEvent(new CustomEvent('say', { detail: { text, seen, bad } }))
}

/**
 * The live region of the messages.
 *
 * It must be in the page before its text: screen readers do not announce a region that is added together with a text.
 */
export const Said = () => {
  const [{ text, seen, bad }, setMessage] = useState(noMessage)
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const onSay = (/** @type {Event} */ event) => {
      clearTimeout(timer)
      setMessage(/** @type {CustomEvent<typeof noMessage>} */ (event).detail)
      timer = setTimeout(() => setMessage(noMessage), shownMs)
    }
    messages.addEventListener('say', onSay)
    return () => {
      clearTimeout(timer)
      messages.removeEventListener('say', onSay)
    }
  }, [])
  return html`
    <div class="toast" role="status">
      ${text && html`<p class=${seen ? '' : 'visually-hidden'}><${Icon} name=${bad ? 'alert' : 'check'} /><span>${text}</span></p>`}
    </div>
  `
}
