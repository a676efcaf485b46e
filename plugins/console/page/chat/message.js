import { useState } from 'preact/hooks'
import { CopyButton } from '../controls/copy-button.js'
import { html } from '../controls/html.js'
import { Failure } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { formatNumber } from '../words/format.js'
import { Markdown } from './markdown-view.js'
import { t } from './words.js'

/** @typedef {import('./conversation.js').Turn} Turn */

/** A question of the user that is longer is shown in part, so that it does not hide the answer. */
const longQuestion = 900

/**
 * @param {{ turn: Turn, busy: boolean, edit: (content: string) => void }} props `busy`: whether an answer is being
 * written
 */
export const Question = ({ turn, busy, edit }) => {
  const [editing, setEditing] = useState(false)
  const [whole, setWhole] = useState(false)
  const { content, files = [] } = turn
  const isLong = content.length > longQuestion || content.split('\n').length > 12
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const text = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get('question') ?? '').trim()
    if (busy || (text === '' && files.length === 0)) return
    setEditing(false)
    edit(text)
  }
  return html`
    <article class="turn user">
      <h2>${t.chat.you}</h2>
      ${files.length > 0 && html`<ul class="attached">${files.map((file) => html`<li key=${file.url}><${Thumbnail} type=${file.type} address=${addressOf(file)} /><span>${file.title}</span></li>`)}</ul>`}
      ${
        editing
          ? html`
              <form onSubmit=${submit}>
                <textarea name="question" aria-label=${t.chat.question} rows="4" defaultValue=${content} autofocus></textarea>
                <div class="actions">
                  <button type="submit" class="small primary" aria-disabled=${busy}>${t.chat.askAgain}</button>
                  <button type="button" class="small" onClick=${() => setEditing(false)}>${t.cancel}</button>
                </div>
              </form>
            `
          : html`
              <p class=${isLong && !whole ? 'text shortened' : 'text'}>${content}</p>
              <div class="turn-actions">
                ${isLong && html`<button type="button" class="small" aria-expanded=${whole} onClick=${() => setWhole(!whole)}>${whole ? t.chat.showLess : t.chat.showAll}</button>`}
                ${content !== '' && html`<${CopyButton} text=${content} label=${t.copy} title=${t.chat.copyQuestion} />`}
                ${!busy && html`<button type="button" class="small" onClick=${() => setEditing(true)}>${t.edit}</button>`}
              </div>
            `
      }
    </article>
  `
}

/** A file of the user is in the page itself. @param {import('../videos/video-request.js').Input} file */
export const addressOf = ({ url, preview }) => preview ?? (url.startsWith('data:image/') ? url : httpUrl(url))

/**
 * @param {{ turn: Turn, busy: boolean, isLast: boolean, regenerate: () => void }} props `busy`: whether this answer is
 * being written
 */
export const Answer = ({ turn, busy, isLast, regenerate }) => {
  const { content, reasoning, error, stopped, usage } = turn
  return html`
    <article class="turn assistant">
      <h2>${turn.model}</h2>
      ${reasoning && html`<details open=${busy && content === ''}><summary>${t.chat.reasoning}</summary><p class="text">${reasoning}</p></details>`}
      ${content && html`<${Markdown} text=${content} />`}
      ${busy && !content && html`<p class="thinking"><span class="visually-hidden">${t.chat.thinking}</span><i></i><i></i><i></i></p>`}
      <${Failure} message=${error} retry=${isLast ? regenerate : undefined} />
      ${stopped && html`<p class="hint">${t.chat.stopped}</p>`}
      ${
        !busy &&
        html`
          <div class="turn-actions">
            ${content && html`<${CopyButton} text=${content} label=${t.copy} title=${t.chat.copyAnswer} />`}
            ${isLast && !error && html`<button type="button" class="small" onClick=${regenerate}>${t.chat.regenerate}</button>`}
            ${usage && html`<p class="hint">${t.chat.usage(formatNumber(usage.prompt_tokens ?? 0), formatNumber(usage.completion_tokens ?? 0))}</p>`}
          </div>
        `
      }
    </article>
  `
}
