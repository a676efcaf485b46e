import { html } from '../../controls/html.js'
import { w } from '../words/words.js'
import { FieldFault } from './faults.js'
import { FaultDialog, Input } from './form.js'

/**
 * A dialog before something that cannot be undone: the user types the name of the object.
 * @param {{ title: string, submitLabel: string, name: string, action: () => Promise<unknown>, onClose: () => void,
 * children?: unknown }} props `children`: what will happen
 */
export const ConfirmByName = ({ title, submitLabel, name, action, onClose, children }) => {
  const run = async (/** @type {Record<string, string>} */ { confirmation }) => {
    if (confirmation !== name.trim()) throw new FieldFault('confirmation', w.confirm.wrong)
    await action()
  }
  return html`
    <${FaultDialog} danger title=${title} submitLabel=${submitLabel} action=${run} onClose=${onClose}>
      ${children}
      <p>${w.confirm.lead} <strong class="typed">${name}</strong></p>
      <${Input} label=${w.confirm.label} name="confirmation" autocomplete="off" autocapitalize="off" spellcheck=${false} />
    <//>
  `
}
