import { useId } from 'preact/hooks'
import { html } from './html.js'

/**
 * An input with a label. `hint` is its accessible description.
 * @param {{ label: string, hint?: string, multiline?: boolean } & Record<string, unknown>} props `multiline`: a text
 * area instead of a single line
 */
export const Field = ({ label, hint, multiline, ...input }) => {
  const id = useId()
  const hintId = hint ? `${id}-hint` : undefined
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${
        multiline
          ? html`<textarea id=${id} aria-describedby=${hintId} rows="3" ...${input}></textarea>`
          : html`<input id=${id} aria-describedby=${hintId} ...${input} />`
      }
      ${hint && html`<p id=${hintId} class="hint">${hint}</p>`}
    </div>
  `
}

/**
 * A checkbox with a label beside it. `hint` is its accessible description.
 * @param {{ label: string, hint?: string, checked: boolean, onChange: (checked: boolean) => void }} props
 */
export const Check = ({ label, hint, checked, onChange }) => {
  const id = useId()
  const box = html`
    <label class="check">
      <input
        type="checkbox"
        checked=${checked}
        aria-describedby=${hint ? id : undefined}
        onChange=${(/** @type {Event} */ event) => onChange(/** @type {HTMLInputElement} */ (event.currentTarget).checked)}
      />
      <span>${label}</span>
    </label>
  `
  return hint ? html`<div>${box}<p id=${id} class="hint">${hint}</p></div>` : box
}

/**
 * A select with a label.
 * @param {{ label: string, choices: readonly (readonly [value: string, text: string])[], value?: string } &
 * Record<string, unknown>} props
 */
export const Select = ({ label, choices, value, ...select }) => {
  const id = useId()
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} value=${value} ...${select}>
        ${choices.map(([one, text]) => html`<option key=${one} value=${one} selected=${one === value}>${text}</option>`)}
      </select>
    </div>
  `
}
