import { createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { Failure } from '../../controls/placeholder.js'
import { useAction } from '../../frame/hooks.js'
import { t } from '../../words/words.js'
import { faultOf } from './faults.js'

/** @typedef {{ field: string, message: string, number: number }} ShownFault `number`: of the attempt */

/** The fault of the form around a field. */
const FaultContext = createContext(/** @type {ShownFault | undefined} */ (undefined))

/**
 * What a field shows of the fault of its form.
 * @param {string} name
 */
export const useFault = (name) => {
  const fault = useContext(FaultContext)
  return fault?.field === name ? fault.message : undefined
}

/**
 * The words about a fault, below the field.
 * @param {{ id: string, message: string | undefined }} props
 */
export const Fault = ({ id, message }) => message && html`<p id=${id} class="fault">${message}</p>`

/**
 * A form whose faults stand at their fields. Submitting calls `action` with the fields. A fault moves the focus to its
 * field.
 * @param {{ submitLabel: string, danger?: boolean, action: (fields: Record<string, string>, form: HTMLFormElement) =>
 * Promise<unknown>, onDone?: () => void, onCancel?: () => void, children?: unknown }} props
 */
export const FaultForm = ({ submitLabel, danger, action, onDone, onCancel, children }) => {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const attempts = useRef(0)
  const [fault, setFault] = useState(/** @type {ShownFault | undefined} */ (undefined))
  const { run, busy, error } = useAction(async (/** @type {HTMLFormElement} */ element) => {
    setFault(undefined)
    const fields = Object.fromEntries([...new FormData(element)].map(([name, value]) => [name, String(value).trim()]))
    try {
      await action(fields, element)
    } catch (caught) {
      const found = faultOf(caught)
      if (!found) throw caught
      attempts.current += 1
      setFault({ field: found.field, message: found.message, number: attempts.current })
      return
    }
    onDone?.()
  })
  useLayoutEffect(() => {
    if (!fault?.field) return
    const target = form.current?.querySelector(
      `[name="${CSS.escape(fault.field)}"], [data-field="${CSS.escape(fault.field)}"]`,
    )
    if (target instanceof HTMLElement) target.focus()
  }, [fault?.number])
  const isPlaced = fault !== undefined && fault.field !== ''
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    void run(/** @type {HTMLFormElement} */ (event.currentTarget))
  }
  return html`
    <form ref=${form} class="fault-form" noValidate onSubmit=${submit} aria-busy=${busy}>
      <${FaultContext.Provider} value=${fault}>${children}<//>
      <${Failure} message=${isPlaced ? undefined : (fault?.message ?? error)} />
      <div class="actions">
        ${onCancel && html`<button type="button" onClick=${onCancel}>${t.cancel}</button>`}
        <button type="submit" class=${danger ? 'danger' : 'primary'} aria-disabled=${busy}>${busy ? t.working : submitLabel}</button>
      </div>
    </form>
  `
}

/**
 * A dialog with such a form. It closes when `action` resolves.
 * @param {{ title: string, submitLabel: string, danger?: boolean, wide?: boolean, action: (fields: Record<string,
 * string>, form: HTMLFormElement) => Promise<unknown>, onClose: () => void, children?: unknown }} props
 */
export const FaultDialog = ({ title, wide, onClose, children, ...form }) => html`
  <${Dialog} title=${title} wide=${wide} onClose=${onClose}>
    <${FaultForm} ...${form} onDone=${onClose} onCancel=${onClose}>${children}<//>
  <//>
`

/**
 * An input with a label, and the fault of its value.
 * @param {{ label: string, name: string, hint?: unknown, multiline?: boolean } & Record<string, unknown>} props
 */
export const Input = ({ label, name, hint, multiline, ...input }) => {
  const id = useId()
  const fault = useFault(name)
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined
  const shared = { id, name, 'aria-describedby': described, 'aria-invalid': fault ? 'true' : undefined }
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${multiline ? html`<textarea rows="3" ...${input} ...${shared}></textarea>` : html`<input ...${input} ...${shared} />`}
      <${Fault} id=${`${id}-fault`} message=${fault} />
      ${hint && html`<p id=${`${id}-hint`} class="hint">${hint}</p>`}
    </div>
  `
}

/**
 * A select with a label, and the fault of its value.
 * @param {{ label: string, name?: string, choices: readonly (readonly [value: string, text: string])[], value?: string,
 * hint?: unknown } & Record<string, unknown>} props
 */
export const Choice = ({ label, name = '', choices, value, hint, ...select }) => {
  const id = useId()
  const fault = useFault(name)
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} name=${name || undefined} aria-describedby=${described} aria-invalid=${fault ? 'true' : undefined} ...${select}>
        ${choices.map(([one, text]) => html`<option key=${one} value=${one} selected=${one === value}>${text}</option>`)}
      </select>
      <${Fault} id=${`${id}-fault`} message=${fault} />
      ${hint && html`<p id=${`${id}-hint`} class="hint">${hint}</p>`}
    </div>
  `
}
