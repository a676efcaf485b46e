import { useEffect, useRef, useState } from 'preact/hooks'
import { paths } from './paths.js'

/**
 * @typedef {object} Listener
 * @property {(type: string, id: string | undefined) => void} onEvent called with the type of an event, such as
 * `video.succeeded`, and the id of the task or asset
 * @property {(open: boolean) => void} onChange called when the stream opens or closes
 */

/** The events that the page uses. An EventSource calls no listener for a type that is not named. */
const types = [
  ...['queued', 'running', 'succeeded', 'failed', 'expired', 'cancelled', 'deleted'].map((state) => `video.${state}`),
  ...['active', 'failed', 'deleted'].map((state) => `asset.${state}`),
]

/** After an error response, the page tries again this much later. Until then its parts poll. */
const retryMs = 60_000

/** @type {Set<Listener>} */
const listeners = new Set()
/** @type {EventSource | undefined} */
let source
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retry
let isOpen = false

/** @param {boolean} open */
const setOpen = (open) => {
  isOpen = open
  for (const { onChange } of listeners) onChange(open)
}

/**
 * One stream for the whole page, and only while it is visible: a browser opens few connections to a server, for all
 * tabs together.
 */
const update = () => {
  const wanted = paths.events !== undefined && listeners.size > 0 && document.visibilityState === 'visible'
  if (wanted === (source !== undefined)) return
  clearTimeout(retry)
  if (wanted) open()
  else close()
}

const open = () => {
  const opened = new EventSource(`${paths.events}?types=video.*,asset.*`)
  source = opened
  opened.onopen = () => setOpen(true)
  opened.onerror = () => {
    setOpen(false)
    // Otherwise the browser connects again by itself.
    if (opened.readyState !== EventSource.CLOSED) return
    retry = setTimeout(() => {
      close()
      update()
    }, retryMs)
  }
  for (const type of types) {
    opened.addEventListener(type, ({ data }) => {
      const id = idIn(data)
      for (const { onEvent } of listeners) onEvent(type, id)
    })
  }
}

const close = () => {
  source?.close()
  source = undefined
  if (isOpen) setOpen(false)
}

/** @param {string} text the JSON of an event */
const idIn = (text) => {
  try {
    const { data } = JSON.parse(text)
    // A task's fields are in lower case, as the vendor has them.
    const id = data?.id ?? data?.Id
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

/**
 * Listens to the server's events about the user's tasks and assets, while `enabled` is true and the page is visible.
 * @param {(type: string, id: string | undefined) => void} onEvent
 * @param {boolean} enabled
 * @returns {boolean} whether events arrive; if not, the caller must poll
 */
export const useEvents = (onEvent, enabled) => {
  const latest = useRef(onEvent)
  latest.current = onEvent
  const [live, setLive] = useState(false)
  useEffect(() => {
    if (!enabled) return
    /** @type {Listener} */
    const listener = { onEvent: (...event) => latest.current(...event), onChange: setLive }
    listeners.add(listener)
    setLive(isOpen)
    update()
    document.addEventListener('visibilitychange', update)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) document.removeEventListener('visibilitychange', update)
      setLive(false)
      update()
    }
  }, [enabled])
  return live
}
