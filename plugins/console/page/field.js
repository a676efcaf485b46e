import { useId } from 'preact/hooks'
import { html } from './html.js'

/**
 * A labelled field; `hint` is read out with it.
 * @param {{ label: string, hint?: string, more?: boolean } & Record<string, unknown>} props `more`: several lines
 */
export const Field = ({ label, hint, more, ...input }) => {
  const id = useId()
  const about = hint ? `${id}-hint` : undefined
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${
        more
          ? html`<textarea id=${id} aria-describedby=${about} rows="3" ...${input}></textarea>`
          : html`<input id=${id} aria-describedby=${about} ...${input} />`
      }
      ${hint && html`<p id=${about} class="hint">${hint}</p>`}
    </div>
  `
}

/**
 * A labelled choice.
 * @param {{ label: string, choices: readonly (readonly [value: string, text: string])[], value?: string } & Record<string, unknown>} props
 */
export const Choice = ({ label, choices, value, ...select }) => {
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
