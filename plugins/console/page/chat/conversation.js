import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isAbort, messageOf } from '../api/api-error.js'
import { openBrowserStore } from '../api/browser-store.js'
import { paths } from '../api/paths.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { t } from '../words/words.js'
import { createPacedUpdates } from './paced-updates.js'
import { readCompletion } from './stream.js'

/** @typedef {import('../videos/video-request.js').Input} Input a picture or a video */
/**
 * @typedef {object} Turn
 * @property {number} id
 * @property {'user' | 'assistant'} role
 * @property {string} content
 * @property {readonly Input[]} [files] what the user has added to the question
 * @property {string} [reasoning] the model's `reasoning_content`
 * @property {string} [model]
 * @property {string} [error]
 * @property {boolean} [stopped] the user stopped the answer
 * @property {import('./stream.js').Delta['usage']} [usage]
 */
/**
 * @typedef {object} Settings
 * @property {string} system the system prompt
 * @property {string} temperature empty: that of the model
 * @property {string} maxTokens empty: no maximum of the user's
 */
/**
 * @typedef {object} Talk a conversation, as the browser keeps it
 * @property {string} id
 * @property {string} model
 * @property {Settings} settings
 * @property {readonly Turn[]} turns
 */
/** @typedef {ReturnType<typeof useConversation>} Conversation */

/** @type {Settings} */
const noSettings = { system: '', temperature: '', maxTokens: '' }

/** Conversations that a browser keeps for one user; the oldest one beyond is forgotten. */
const maxTalks = 200

/** @param {Partial<Talk>} [like] model and settings of the next conversation @returns {Talk} */
const newTalk = ({ model = '', settings = noSettings } = {}) => ({
  id: `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`,
  ...{ model, settings, turns: [] },
})

/**
 * A conversation with a model, and the earlier ones. The browser keeps them; the server does not.
 * @param {{ user: string }} options the user's id
 */
export const useConversation = ({ user }) => {
  const api = useApi()
  const [talk, setTalk] = useState(() => newTalk())
  const [busy, setBusy] = useState(false)
  const latest = useRef(talk)
  const request = useRef(/** @type {AbortController | undefined} */ (undefined))
  const kept = useMemo(
    () => /** @type {ReturnType<typeof openBrowserStore<Talk>>} */ (openBrowserStore('conversations', user, maxTalks)),
    [user],
  )
  useEffect(() => () => request.current?.abort(), [])

  /** @param {Partial<Talk>} changes */
  const change = (changes) => {
    latest.current = { ...latest.current, ...changes }
    setTalk(latest.current)
  }
  const keep = () => (latest.current.turns.length > 0 ? kept.put(latest.current.id, latest.current) : undefined)

  const stop = () => {
    request.current?.abort()
    request.current = undefined
    setBusy(false)
  }

  /** @param {readonly Turn[]} history ends with the question */
  const ask = async (history) => {
    stop()
    const { model, settings, id: talkId } = latest.current
    const controller = new AbortController()
    request.current = controller
    /** @type {Turn} */
    let answer = { id: nextId(history), role: 'assistant', content: '', model }
    const show = (/** @type {Partial<Turn>} */ changes = {}) => {
      answer = { ...answer, ...changes }
      // Another conversation may be open by now.
      if (latest.current.id === talkId) change({ turns: [...history, answer] })
    }
    const updates = createPacedUpdates(() => show())
    controller.signal.addEventListener('abort', updates.now)
    setBusy(true)
    show()
    void keep()
    try {
      const { body: events } = await api.sendWithToken(`${paths.text}/chat/completions`, {
        method: 'POST',
        body: bodyOf(model, settings, history),
        signal: controller.signal,
      })
      for await (const { content, reasoning, usage } of readCompletion(/** @type {any} */ (events), updates.next)) {
        answer = {
          ...answer,
          content: answer.content + content,
          reasoning: (answer.reasoning ?? '') + reasoning,
          usage: usage ?? answer.usage,
        }
      }
      updates.now()
      showToast(t.answerComplete, { visible: false })
    } catch (error) {
      updates.now()
      show(isAbort(error) ? { stopped: true } : { error: messageOf(error) })
    }
    void kept.put(talkId, {
      ...(latest.current.id === talkId ? latest.current : { id: talkId, model, settings }),
      turns: [...history, answer],
    })
    if (request.current === controller) {
      request.current = undefined
      setBusy(false)
    }
  }

  const { turns } = talk
  return {
    ...talk,
    busy,
    kept,
    /** @param {string} model */
    setModel: (model) => change({ model }),
    /** @param {Settings} settings */
    setSettings: (settings) => {
      change({ settings })
      void keep()
    },
    /** @param {string} content @param {readonly Input[]} files */
    send: (content, files) => ask([...turns, { id: nextId(turns), role: 'user', content, files }]),
    /** Asks for another answer to the last question. */
    regenerate: () => ask(turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns),
    /** Asks a changed question; what followed it is dropped. @param {Turn} turn @param {string} content */
    edit: (turn, content) => ask([...turns.slice(0, turns.indexOf(turn)), { ...turn, content }]),
    stop,
    /** Begins a new conversation with the same model and settings. */
    clear: () => {
      stop()
      latest.current = newTalk(latest.current)
      setTalk(latest.current)
    },
    /** Opens an earlier conversation. @param {Talk} earlier */
    open: (earlier) => {
      stop()
      latest.current = earlier
      setTalk(earlier)
    },
  }
}

/** @param {readonly Turn[]} turns */
const nextId = (turns) => Math.max(0, ...turns.map(({ id }) => id)) + 1

/** @param {string} model @param {Settings} settings @param {readonly Turn[]} history */
const bodyOf = (model, { system, temperature, maxTokens }, history) => ({
  model,
  messages: [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    // A message without content (an error, or stopped early) is not sent to the model.
    ...history
      .filter(({ content, files = [] }) => content !== '' || files.length > 0)
      .map(({ role, content, files = [] }) => ({ role, content: contentOf(content, files) })),
  ],
  stream: true,
  stream_options: { include_usage: true },
  ...(temperature !== '' && { temperature: Number(temperature) }),
  ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
})

/** @param {string} text @param {readonly Input[]} files */
const contentOf = (text, files) => {
  if (files.length === 0) return text
  const items = files.map(({ type, url }) => {
    const name = type === 'Video' ? 'video_url' : 'image_url'
    return { type: name, [name]: { url } }
  })
  return [...items, ...(text === '' ? [] : [{ type: 'text', text }])]
}
