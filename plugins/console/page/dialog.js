import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from './asking.js'
import { html } from './html.js'
import { Failure } from './placeholder.js'
import { t } from './strings.js'

/**
 * A dialog, open as long as it is rendered. The browser keeps the focus inside and closes it by Escape; afterwards the focus goes back to where it was, or to the
 * heading of the screen when that is gone.
 * @param {{ title: string, onClose: () => void, children?: unknown }} props
 */
export const Dialog = ({ title, onClose, children }) => {
  const id = useId()
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  // Before the next key is pressed: what one types at once must arrive.
  useLayoutEffect(() => {
    const before = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    return () => {
      shown?.close()
      // What was there may go together with the dialog.
      queueMicrotask(() => {
        const after = before instanceof HTMLElement && before.isConnected ? before : document.querySelector('main h1')
        if (after instanceof HTMLElement) after.focus()
      })
    }
  }, [])
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault()
    onClose()
  }
  return html`
    <dialog ref=${dialog} aria-labelledby=${id} onCancel=${cancel}>
      <h2 id=${id}>${title}</h2>
      ${children}
    </dialog>
  `
}

/**
 * A dialog that asks for something: `act` gets the fields, and the dialog closes when it is done.
 * @param {{ title: string, verb: string, grave?: boolean, act: (fields: Record<string, string>) => Promise<unknown>, onClose: () => void, children?: unknown }} props
 */
export const FormDialog = ({ title, verb, grave, act, onClose, children }) => {
  const { run, busy, error } = useAction(async (/** @type {HTMLFormElement} */ form) => {
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
    await act(fields)
    onClose()
  })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    void run(/** @type {HTMLFormElement} */ (event.currentTarget))
  }
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form onSubmit=${submit} aria-busy=${busy}>
        ${children}
        <${Failure} message=${error} />
        <div class="verbs">
          <button type="button" onClick=${onClose}>${t.cancel}</button>
          <button type="submit" class=${grave ? 'grave' : 'primary'} aria-disabled=${busy}>${busy ? t.working : verb}</button>
        </div>
      </form>
    <//>
  `
}
