import { useEffect, useRef, useState } from 'preact/hooks'

/**
 * Whether the server can be reached, as the page's requests have found. While it cannot, the page asks again by itself.
 */

const events = new EventTarget()
const retryMs = 3_000
let isLost = false
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {() => Promise<unknown>} */
let probe = async () => {}

/** @param {boolean} lost */
const set = (lost) => {
  if (lost === isLost) return
  isLost = lost
  events.dispatchEvent(new Event(lost ? 'lost' : 'back'))
}

const retry = () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    probe().then(reached, lost)
  }, retryMs)
}

/** A request has got a response. */
export const reached = () => {
  clearTimeout(timer)
  set(false)
}

/** A request has got no response. */
export const lost = () => {
  set(true)
  retry()
}

/** @param {() => Promise<unknown>} request that costs little; it rejects without a response */
export const setProbe = (request) => {
  probe = request
}

/** Whether the connection is lost. */
export const useConnectionLost = () => {
  const [shown, setShown] = useState(isLost)
  useEffect(() => {
    const update = () => setShown(isLost)
    update()
    events.addEventListener('lost', update)
    events.addEventListener('back', update)
    return () => {
      events.removeEventListener('lost', update)
      events.removeEventListener('back', update)
    }
  }, [])
  return shown
}

/** After so long in the background the page loads what it shows again. */
const staleMs = 30_000

/**
 * Calls `reload` when the connection is back, and when the user comes back to a page that shows old data.
 * @param {() => void} reload
 */
export const useRefresh = (reload) => {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    let leftAt = Date.now()
    const onVisibilityChange = () => {
      if (document.visibilityState === 'hidden') leftAt = Date.now()
      else if (Date.now() - leftAt > staleMs) latest.current()
    }
    const onBack = () => latest.current()
    events.addEventListener('back', onBack)
    document.addEventListener('visibilitychange', onVisibilityChange)
    return () => {
      events.removeEventListener('back', onBack)
      document.removeEventListener('visibilitychange', onVisibilityChange)
    }
  }, [])
}
