import { useState } from 'preact/hooks'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Loading } from '../controls/placeholder.js'
import { useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatTime } from '../words/format.js'
import { t } from './words.js'

/** @typedef {import('./conversation.js').Conversation} Conversation */
/** @typedef {import('./conversation.js').Talk} Talk */

/** What a conversation is called: the beginning of its first question. @param {Pick<Talk, 'turns'>} talk */
export const titleOf = ({ turns }) => {
  const first = turns.find(({ role }) => role === 'user')
  return [...(first?.content.replace(/\s+/g, ' ').trim() || t.chat.untitled)].slice(0, 80).join('')
}

/**
 * The conversations that this browser keeps.
 * @param {{ conversation: Conversation, onClose: () => void }} props
 */
export const History = ({ conversation, onClose }) => {
  const { kept, id: current, clear } = conversation
  const talks = useLoaded(() => kept.all(), [])
  const [deletingAll, setDeletingAll] = useState(false)
  const [wanted, setWanted] = useState('')
  const remove = async (/** @type {string} */ id) => {
    await kept.remove(id)
    if (id === current) clear()
    talks.change((all) => all.filter((one) => one.id !== id))
  }
  const removeAll = async () => {
    await kept.clear()
    clear()
    onClose()
  }
  const all = talks.value ?? []
  const list = all.filter(({ value }) => contains(value, wanted.trim().toLowerCase()))
  if (deletingAll) {
    return html`
      <${FormDialog} danger title=${t.chat.deleteAll} submitLabel=${t.chat.deleteAll} action=${removeAll} onClose=${() => setDeletingAll(false)}>
        <p>${t.chat.deleteAllWarning}</p>
      <//>
    `
  }
  return html`
    <${Dialog} title=${t.chat.history} wide onClose=${onClose}>
      <p class="hint">${t.chat.historyHint}</p>
      ${talks.busy && !talks.value && html`<${Loading} kind="rows" />`}
      ${
        all.length > 0 &&
        html`<${Field} label=${t.chat.find} type="search" autocomplete="off" spellcheck=${false} value=${wanted} onInput=${(/** @type {Event} */ event) => setWanted(/** @type {HTMLInputElement} */ (event.currentTarget).value)} />`
      }
      <p class="lead" role="status">${talks.value && list.length === 0 && (all.length === 0 ? t.chat.noHistory : t.chat.noneFound)}</p>
      <ul class="rows talks">
        ${list.map(
          ({ id, at, value }) => html`
            <li key=${id}>
              <div class="item-text">
                <p class="name"><a href=${linkTo('chat', id)} aria-current=${id === current ? 'true' : undefined} onClick=${onClose}>${titleOf(value)}</a></p>
                <p class="hint"><span>${value.model}</span><time datetime=${new Date(at).toISOString()}>${formatTime(new Date(at))}</time></p>
              </div>
              <div class="actions">
                <button type="button" class="small" aria-label=${t.chat.exportOf(titleOf(value))} onClick=${() => save(value)}>${t.chat.export}</button>
                <button type="button" class="small danger" aria-label=${t.deleteOf(titleOf(value))} onClick=${() => remove(id)}>${t.delete}</button>
              </div>
            </li>
          `,
        )}
      </ul>
      <div class="actions">
        ${all.length > 0 && html`<button type="button" class="danger" onClick=${() => setDeletingAll(true)}>${t.chat.deleteAll}</button>`}
        <button type="button" class="primary" autofocus onClick=${onClose}>${t.done}</button>
      </div>
    <//>
  `
}

/** Whether a question or an answer contains a text, in any case. @param {Talk} talk @param {string} text */
const contains = ({ turns }, text) => text === '' || turns.some(({ content }) => content.toLowerCase().includes(text))

/** Saves a conversation as a file of Markdown. @param {Talk} talk */
const save = (talk) => {
  const address = URL.createObjectURL(new Blob([markdownOf(talk)], { type: 'text/markdown' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${
    titleOf(talk)
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .slice(0, 60) || 'conversation'
  }.md`
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** @param {Talk} talk */
const markdownOf = ({ turns, model, settings }) =>
  [
    `# ${titleOf({ turns })}`,
    ...(settings.system ? [`## ${t.chat.system}`, settings.system] : []),
    ...turns.flatMap(({ role, content, files = [], ...turn }) => [
      `## ${role === 'user' ? t.chat.you : (turn.model ?? model)}`,
      ...files.map(({ title, url }) => (url.startsWith('data:') ? `- ${title}` : `- ${title}: ${url}`)),
      content,
    ]),
    '',
  ].join('\n\n')
