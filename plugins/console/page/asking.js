import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { isAbort, messageOf, Refusal } from './refusal.js'

/** @type {import('preact').Context<import('./api.js').Api>} */
export const ApiContext = createContext(/** @type {any} */ (undefined))

export const useApi = () => useContext(ApiContext)

/**
 * Something that is asked for when it is shown, and again when the inputs change; what was there stays until then.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {readonly unknown[]} inputs
 */
export const useLoaded = (load, inputs) => {
  const [state, setState] = useState(/** @type {{ value?: T, error?: string, busy: boolean }} */ ({ busy: true }))
  const [round, setRound] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    setState((before) => ({ value: before.value, busy: true }))
    load(leaving.signal)
      .then((value) => {
        if (!leaving.signal.aborted) setState({ value, busy: false })
      })
      .catch((error) => {
        if (leaving.signal.aborted || isAbort(error)) return
        setState((before) => ({ value: before.value, error: messageOf(error), busy: false }))
      })
    return () => leaving.abort()
  }, [...inputs, round])
  /** @param {(value: T) => T} change */
  const change = (change) =>
    setState((before) => (before.value === undefined ? before : { ...before, value: change(before.value) }))
  return { ...state, change, reload: () => setRound((before) => before + 1) }
}

/**
 * Something that is done on demand, once at a time.
 * @template {unknown[]} Given
 * @param {(...given: Given) => Promise<unknown>} action
 */
export const useAction = (action) => {
  const [state, setState] = useState(/** @type {{ error?: string, busy: boolean }} */ ({ busy: false }))
  const busy = useRef(false)
  const here = useRef(true)
  useEffect(() => {
    here.current = true
    return () => {
      here.current = false
    }
  }, [])
  /** @param {Given} given */
  const run = async (...given) => {
    if (busy.current) return
    busy.current = true
    setState({ busy: true })
    let error
    try {
      await action(...given)
    } catch (caught) {
      error = isAbort(caught) ? undefined : messageOf(caught)
    }
    busy.current = false
    if (here.current) setState({ error, busy: false })
  }
  return { ...state, run }
}

/**
 * Looks again and again while it is wanted and the page is seen; less and less often while that fails.
 * @param {() => Promise<unknown>} look
 * @param {{ wanted: boolean, ms: number }} options
 */
export const usePolling = (look, { wanted, ms }) => {
  const latest = useRef(look)
  latest.current = look
  const ask = useCallback(() => latest.current(), [])
  useEffect(() => {
    if (!wanted) return
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    let stopped = false
    let looking = false
    let failures = 0
    const plan = (/** @type {number} */ wait) => {
      clearTimeout(timer)
      if (!stopped && document.visibilityState === 'visible') timer = setTimeout(lookOnce, wait)
    }
    const lookOnce = async () => {
      if (looking) return
      looking = true
      let asked = 0
      try {
        await ask()
        failures = 0
      } catch (error) {
        failures++
        asked = error instanceof Refusal ? 1000 * (error.retryAfter ?? 0) : 0
      }
      looking = false
      plan(Math.max(asked, Math.min(60_000, ms * 2 ** failures)))
    }
    const seen = () => plan(document.visibilityState === 'visible' ? 0 : ms)
    document.addEventListener('visibilitychange', seen)
    plan(ms)
    return () => {
      stopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [wanted, ms])
}
