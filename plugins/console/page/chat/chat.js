import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { formatNumber } from '../words/format.js'
import { t } from '../words/words.js'

/** @typedef {import('./conversation.js').Turn} Turn */
/** @typedef {import('./conversation.js').Conversation} Conversation */

/** @param {{ conversation: Conversation }} props */
export const Chat = ({ conversation }) => {
  const api = useApi()
  const { turns, busy, model, setModel, clear, retry } = conversation
  const models = useLoaded(async (signal) => {
    /** @type {readonly { id: string }[]} */
    const data = (await api.requestWithToken(`${paths.text}/models`, { signal })).data ?? []
    return data.map(({ id }) => id)
  }, [])
  // In a layout effect, which runs before the browser paints: no question can be sent without a model.
  useLayoutEffect(() => {
    if (model === '' && models.value?.[0]) setModel(models.value[0])
  }, [models.value])

  const end = useRef(/** @type {HTMLElement | null} */ (null))
  const length = turns.length + (turns.at(-1)?.content.length ?? 0) + (turns.at(-1)?.reasoning?.length ?? 0)
  useEffect(() => {
    if (turns.length > 0 && isNearEnd()) end.current?.scrollIntoView({ block: 'end' })
  }, [length])

  const choices = (models.value ?? (model ? [model] : [])).map((id) => [id, id])
  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.chat.title}</h1>
      <button type="button" aria-disabled=${turns.length === 0} onClick=${clear}>${t.chat.clear}</button>
    </div>
    <div class="filters">
      <${Select}
        label=${t.chat.model}
        value=${model}
        choices=${choices.length > 0 ? choices : [['', models.busy ? t.loading : t.chat.noModel]]}
        onChange=${(/** @type {Event} */ event) => setModel(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
      />
    </div>
    <${Failure} message=${models.error} retry=${models.reload} />
    <div class="turns" aria-busy=${busy}>
      ${
        turns.length === 0
          ? html`<${Empty} icon="chat" title=${t.chat.empty}><p>${t.chat.emptyHint}</p><//>`
          : turns.map(
              (turn, at) =>
                html`<${Message} key=${turn.id} turn=${turn} busy=${busy && at === turns.length - 1} retry=${at === turns.length - 1 ? retry : undefined} />`,
            )
      }
      <div ref=${end} class="end"></div>
    </div>
    <${Composer} conversation=${conversation} />
  `
}

/**
 * Whether the page is scrolled to its end. If the user has scrolled up, new text does not scroll the page down again.
 */
const isNearEnd = () => {
  const page = document.documentElement
  return page.scrollHeight - page.scrollTop - page.clientHeight < 240
}

/** @param {{ turn: Turn, busy: boolean, retry: (() => void) | undefined }} props */
const Message = ({ turn, busy, retry }) => {
  const { role, content, reasoning, error, stopped, usage } = turn
  return html`
    <article class=${`turn ${role}`}>
      <h2>${role === 'user' ? t.chat.you : turn.model}</h2>
      ${reasoning && html`<details open=${busy && content === ''}><summary>${t.chat.reasoning}</summary><p class="text">${reasoning}</p></details>`}
      ${content && blocks(content)}
      ${busy && !content && html`<p class="thinking"><span class="visually-hidden">${t.chat.thinking}</span><i></i><i></i><i></i></p>`}
      <${Failure} message=${error} retry=${retry} />
      ${stopped && html`<p class="hint">${t.chat.stopped}</p>`}
      ${usage && html`<p class="hint">${t.chat.usage(formatNumber(usage.prompt_tokens ?? 0), formatNumber(usage.completion_tokens ?? 0))}</p>`}
    </article>
  `
}

/**
 * Renders plain text, with fenced code as code blocks.
 * @param {string} content
 */
const blocks = (content) =>
  content
    .split(/^```.*(?:\n|$)/m)
    .map((part, at) =>
      at % 2 === 1
        ? html`<pre key=${at} tabindex="0"><code>${part.replace(/\n$/, '')}</code></pre>`
        : part.trim() && html`<p key=${at} class="text">${part.replace(/^\n+|\n+$/g, '')}</p>`,
    )

/** @param {{ conversation: Conversation }} props */
const Composer = ({ conversation: { busy, model, send, stop } }) => {
  const input = useRef(/** @type {HTMLTextAreaElement | null} */ (null))
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const field = input.current
    const text = field?.value.trim() ?? ''
    if (busy || !field || text === '' || model === '') return
    field.value = ''
    void send(text)
  }
  const press = (/** @type {KeyboardEvent} */ event) => {
    // While an input method composes a character, Enter only ends the composition.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event)
  }
  return html`
    <form class="composer" onSubmit=${submit}>
      <label class="visually-hidden" for="question">${t.chat.question}</label>
      <textarea id="question" ref=${input} rows="2" placeholder=${t.chat.placeholder} aria-describedby="question-hint" onKeyDown=${press}></textarea>
      ${
        busy
          ? html`<button key="stop" type="button" class="round" aria-label=${t.chat.stop} onClick=${() => {
              stop()
              input.current?.focus()
            }}><${Icon} name="stop" /></button>`
          : html`<button key="send" type="submit" class="round primary" aria-label=${t.chat.send}><${Icon} name="send" /></button>`
      }
      <p id="question-hint" class="visually-hidden">${t.chat.keyboardHint}</p>
    </form>
  `
}
