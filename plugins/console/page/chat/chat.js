import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { FormDialog } from '../controls/dialog.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { Composer } from './composer.js'
import { History } from './history.js'
import { Answer, Question } from './message.js'
import { t } from './words.js'

/** @typedef {import('./conversation.js').Turn} Turn */
/** @typedef {import('./conversation.js').Conversation} Conversation */

/** Parts of the names of models that do something else: embeddings, speech, pictures, videos, checks. */
const others =
  /embed|rerank|whisper|transcri|speech|\btts\b|-tts|tts-|audio-|dall-e|imagen|seedream|seedance|seededit|stable-diffusion|flux|text-to|moderation|\bocr\b|sora|veo-|bge-|e5-/i

/**
 * Whether a model of the list chats. Some servers say what a model's answers are; of others only the names tell.
 * @param {{ id: string, architecture?: { output_modalities?: readonly string[] }, output_modalities?: readonly string[],
 * type?: string }} model
 */
const isChatModel = ({ id, architecture, output_modalities, type }) => {
  const outputs = architecture?.output_modalities ?? output_modalities
  if (Array.isArray(outputs)) return outputs.includes('text')
  if (typeof type === 'string' && /embed|rerank|image|audio|video|moderation/i.test(type)) return false
  return !others.test(id)
}

/** @param {{ conversation: Conversation, part: string | undefined }} props `part`: the id of a conversation */
export const Chat = ({ conversation, part }) => {
  const api = useApi()
  const { id, turns, busy, model, settings, setModel, clear } = conversation
  const [open, setOpen] = useState(/** @type {'history' | 'settings' | undefined} */ (undefined))
  const [isMissing, setIsMissing] = useState(false)
  const models = useLoaded(async (signal) => {
    /** @type {readonly { id: string }[]} */
    const data = (await api.requestWithToken(`${paths.text}/models`, { signal })).data ?? []
    return data.filter(isChatModel).map(({ id }) => id)
  }, [])
  // In a layout effect, which runs before the browser paints: no question can be sent without a model.
  useLayoutEffect(() => {
    if (model === '' && models.value?.[0]) setModel(models.value[0])
  }, [models.value, model])
  useEffect(() => {
    setIsMissing(false)
    if (part === undefined || part === id) return
    void conversation.kept.all().then((talks) => {
      const found = talks.find((talk) => talk.id === part)
      if (found) conversation.open(found.value)
      else setIsMissing(true)
    })
  }, [part])
  const begin = () => {
    clear()
    setIsMissing(false)
    navigate('chat')
  }
  const close = () => setOpen(undefined)
  const choices = [...new Set([...(models.value ?? []), ...(model ? [model] : [])])].map((one) => [one, one])
  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.chat.title}</h1>
      <div class="actions">
        <button type="button" onClick=${() => setOpen('history')}>${t.chat.history}</button>
        <button type="button" aria-disabled=${turns.length === 0} onClick=${() => turns.length > 0 && begin()}><${Icon} name="add" />${t.chat.clear}</button>
      </div>
    </div>
    <div class="filters">
      <${Select}
        label=${t.chat.model}
        value=${model}
        choices=${choices.length > 0 ? choices : [['', models.busy ? t.loading : t.chat.noModel]]}
        onChange=${(/** @type {Event} */ event) => setModel(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
      />
      <button type="button" onClick=${() => setOpen('settings')}>${t.chat.settings}${settings.system.trim() && html`<span class="badge">${t.chat.withSystem}</span>`}</button>
    </div>
    <${Failure} message=${models.error} retry=${models.reload} />
    ${
      isMissing
        ? html`<${Empty} icon="chat" title=${t.chat.missing}><p>${t.chat.historyHint}</p><a class="button" href=${linkTo('chat')} onClick=${begin}>${t.chat.clear}</a><//>`
        : html`<${Turns} conversation=${conversation} />`
    }
    <${Composer} busy=${busy} canSend=${model !== ''} stop=${conversation.stop} send=${(
      /** @type {string} */ text,
      /** @type {any} */ files,
    ) => {
      void conversation.send(text, files)
      // The address of this conversation, for a bookmark or the next visit.
      history.replaceState(history.state, '', linkTo('chat', id))
    }} />
    ${open === 'history' && html`<${History} conversation=${conversation} onClose=${close} />`}
    ${open === 'settings' && html`<${SettingsDialog} conversation=${conversation} onClose=${close} />`}
  `
}

/** Within so many pixels of its end the page follows the answer. */
const nearEnd = 120

const scrollToEnd = () => scrollTo(0, document.documentElement.scrollHeight)

/** The turns. The page follows the answer, until the user scrolls up. @param {{ conversation: Conversation }} props */
const Turns = ({ conversation }) => {
  const { turns, busy, regenerate, edit } = conversation
  const following = useRef(true)
  const box = useRef(/** @type {HTMLElement | null} */ (null))
  const [isAway, setIsAway] = useState(false)
  const count = turns.length
  // A turn that has not changed is not rendered again.
  const rendered = useRef(
    /** @type {Map<number, { key: string, turn: Turn, node: import('preact').VNode }>} */ (new Map()),
  )
  const follow = () => {
    following.current = true
    setIsAway(false)
    scrollToEnd()
  }
  useLayoutEffect(() => {
    // A new question: the view goes there, wherever it was.
    following.current = true
  }, [count])
  useEffect(() => {
    if (!box.current || count === 0) return
    // It observes after the layout of a frame, and so needs none of its own.
    const observer = new ResizeObserver(() => following.current && scrollToEnd())
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [count > 0])
  useEffect(() => {
    let last = scrollY
    const onScroll = () => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement
      const isNear = scrollHeight - scrollTop - clientHeight < nearEnd
      // The answer may have grown since the page was scrolled to its end: only a user scrolls up.
      if (isNear || scrollTop < last) following.current = isNear
      last = scrollTop
      setIsAway(!following.current)
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => removeEventListener('scroll', onScroll)
  }, [])
  const nodeOf = (/** @type {Turn} */ turn, /** @type {number} */ at) => {
    const isLast = at === count - 1
    const key = `${isLast} ${busy}`
    const known = rendered.current.get(turn.id)
    if (known?.turn === turn && known.key === key) return known.node
    const node =
      turn.role === 'user'
        ? html`<${Question} key=${turn.id} turn=${turn} busy=${busy} edit=${(/** @type {string} */ content) => edit(turn, content)} />`
        : html`<${Answer} key=${turn.id} turn=${turn} busy=${busy && isLast} isLast=${isLast} regenerate=${regenerate} />`
    rendered.current.set(turn.id, { key, turn, node })
    return node
  }
  return html`
    <div class="turns" ref=${box} aria-busy=${busy}>
      ${count === 0 ? html`<${Empty} icon="chat" title=${t.chat.empty}><p>${t.chat.emptyHint}</p><//>` : turns.map(nodeOf)}
      <div class="end"></div>
    </div>
    ${isAway && count > 0 && html`<p class="to-end"><button type="button" class="small" onClick=${follow}>${t.chat.toEnd}</button></p>`}
  `
}

/** @param {{ conversation: Conversation, onClose: () => void }} props */
const SettingsDialog = ({ conversation: { settings, setSettings }, onClose }) => {
  const save = async (/** @type {Record<string, string>} */ { system = '', temperature = '', maxTokens = '' }) =>
    setSettings({ system, temperature, maxTokens })
  return html`
    <${FormDialog} title=${t.chat.settings} submitLabel=${t.save} action=${save} onClose=${onClose}>
      <${Field} multiline label=${t.chat.system} hint=${t.chat.systemHint} name="system" defaultValue=${settings.system} maxlength="20000" />
      <${Field} label=${t.chat.temperature} hint=${t.chat.temperatureHint} name="temperature" type="number" min="0" max="2" step="0.1" defaultValue=${settings.temperature} placeholder=${t.videos.modelDefault} />
      <${Field} label=${t.chat.maxTokens} name="maxTokens" type="number" min="1" step="1" defaultValue=${settings.maxTokens} placeholder=${t.videos.modelDefault} />
    <//>
  `
}
