import { useEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { Icon } from './icons.js'

const said = new EventTarget()
const silence = { text: '', seen: true, bad: false }
const shownMs = 5_000

/**
 * Tells people that something is done, to the eye for a moment and to screen readers at once.
 * @param {string} text
 * @param {{ seen?: boolean, bad?: boolean }} [options] `seen` false: where the eye sees it anyway. Default true. `bad`: it did not go well
 */
export const say = (text, { seen = true, bad = false } = {}) => {
  said.dispatchEvent(new CustomEvent('say', { detail: { text, seen, bad } }))
}

/** Where it is shown. There from the start: a live region that comes with its text is not read out. */
export const Said = () => {
  const [{ text, seen, bad }, setSaid] = useState(silence)
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const hear = (/** @type {Event} */ event) => {
      clearTimeout(timer)
      setSaid(/** @type {CustomEvent<typeof silence>} */ (event).detail)
      timer = setTimeout(() => setSaid(silence), shownMs)
    }
    said.addEventListener('say', hear)
    return () => {
      clearTimeout(timer)
      said.removeEventListener('say', hear)
    }
  }, [])
  return html`
    <div class="said" role="status">
      ${text && html`<p class=${seen ? '' : 'unseen'}><${Icon} name=${bad ? 'alert' : 'check'} /><span>${text}</span></p>`}
    </div>
  `
}
