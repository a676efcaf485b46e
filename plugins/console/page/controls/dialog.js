import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useAction } from '../frame/hooks.js'
import { t } from '../words/words.js'
import { html } from './html.js'
import { Failure } from './placeholder.js'

/**
 * A modal dialog, open while it is rendered. Afterwards the focus returns to the element that had it, or to the heading
 * of the screen when that element is gone.
 * @param {{ title: string, wide?: boolean, onClose: () => void, children?: unknown }} props
 */
export const Dialog = ({ title, wide = false, onClose, children }) => {
  const id = useId()
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  // In a layout effect, so that the dialog has the focus before the user's next key.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      // In a microtask: the same update may remove the opener, such as the row of a deleted item.
      queueMicrotask(() => {
        const target = opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector('main h1')
        if (target instanceof HTMLElement) target.focus()
      })
    }
  }, [])
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault()
    onClose()
  }
  return html`
    <dialog ref=${dialog} class=${wide ? 'wide' : ''} aria-labelledby=${id} onCancel=${cancel}>
      <h2 id=${id}>${title}</h2>
      ${children}
    </dialog>
  `
}

/**
 * A dialog with a form. Submitting calls `action` with the fields; the dialog closes when `action` resolves.
 * @param {{ title: string, submitLabel: string, danger?: boolean, action: (fields: Record<string, string>) =>
 * Promise<unknown>, onClose: () => void, children?: unknown }} props
 */
export const FormDialog = ({ title, submitLabel, danger, action, onClose, children }) => {
  const { run, busy, error } = useAction(async (/** @type {HTMLFormElement} */ form) => {
    const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
    await action(fields)
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
        <div class="actions">
          <button type="button" onClick=${onClose}>${t.cancel}</button>
          <button type="submit" class=${danger ? 'danger' : 'primary'} aria-disabled=${busy}>${busy ? t.working : submitLabel}</button>
        </div>
      </form>
    <//>
  `
}
