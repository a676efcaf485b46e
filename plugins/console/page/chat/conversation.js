import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort, messageOf } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { t } from '../words/words.js'
import { readCompletion } from './stream.js'

/**
 * @typedef {object} Turn
 * @property {number} id
 * @property {'user' | 'assistant'} role
 * @property {string} content
 * @property {string} [reasoning] the model's `reasoning_content`
 * @property {string} [model]
 * @property {string} [error]
 * @property {boolean} [stopped] the user stopped the answer
 * @property {import('./stream.js').Delta['usage']} [usage]
 */
/** @typedef {ReturnType<typeof useConversation>} Conversation */

/** A conversation with a model. It exists only in memory. */
export const useConversation = () => {
  const api = useApi()
  const [turns, setTurns] = useState(/** @type {readonly Turn[]} */ ([]))
  const [busy, setBusy] = useState(false)
  const [model, setModel] = useState('')
  const request = useRef(/** @type {AbortController | undefined} */ (undefined))
  const lastId = useRef(0)
  useEffect(() => () => request.current?.abort(), [])

  /**
   * @param {number} id
   * @param {(turn: Turn) => Turn} edit
   */
  const change = (id, edit) => setTurns((before) => before.map((turn) => (turn.id === id ? edit(turn) : turn)))

  /** @param {readonly Turn[]} history ends with the question */
  const requestCompletion = async (history) => {
    const controller = new AbortController()
    request.current = controller
    const { signal } = controller
    const id = ++lastId.current
    setBusy(true)
    setTurns([...history, { id, role: 'assistant', content: '', model }])
    // A message without content (an error, or stopped early) is not sent to the model.
    const messages = history.filter(({ content }) => content !== '').map(({ role, content }) => ({ role, content }))
    const body = { model, messages, stream: true, stream_options: { include_usage: true } }
    try {
      const { body: events } = await api.sendWithToken(`${paths.text}/chat/completions`, {
        method: 'POST',
        body,
        signal,
      })
      for await (const { content, reasoning, usage } of readCompletion(/** @type {any} */ (events))) {
        change(id, (turn) => ({
          ...turn,
          content: turn.content + content,
          reasoning: (turn.reasoning ?? '') + reasoning,
          usage: usage ?? turn.usage,
        }))
      }
      showToast(t.chat.complete, { visible: false })
    } catch (error) {
      change(id, (turn) => (isAbort(error) ? { ...turn, stopped: true } : { ...turn, error: messageOf(error) }))
    }
    if (request.current === controller) setBusy(false)
  }

  return {
    turns,
    busy,
    model,
    setModel,
    /** @param {string} content */
    send: (content) => requestCompletion([...turns, { id: ++lastId.current, role: 'user', content }]),
    /** Sends the last question again. */
    retry: () => requestCompletion(turns.slice(0, -1)),
    stop: () => request.current?.abort(),
    clear: () => {
      request.current?.abort()
      setBusy(false)
      setTurns([])
    },
  }
}
