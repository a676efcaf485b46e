import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, isAbort, shownError } from '../api/api-error.js'
import { useRefresh } from '../api/connection.js'
import { showToast } from '../controls/toast.js'

/** @type {import('preact').Context<import('../api/api.js').Api>} */
export const ApiContext = createContext(/** @type {any} */ (undefined))

export const useApi = () => useContext(ApiContext)

/**
 * Loads a value when the component is shown, and again when the inputs change. The previous value stays until the new
 * one is there.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {readonly unknown[]} inputs
 */
export const useLoaded = (load, inputs) => {
  const [state, setState] = useState(/** @type {{ value?: T, error?: ApiError, busy: boolean }} */ ({ busy: true }))
  const [reloads, setReloads] = useState(0)
  useEffect(() => {
    const loading = new AbortController()
    setState((before) => ({ value: before.value, busy: true }))
    load(loading.signal)
      .then((value) => {
        if (!loading.signal.aborted) setState({ value, busy: false })
      })
      .catch((error) => {
        if (loading.signal.aborted || isAbort(error)) return
        setState((before) => ({ value: before.value, error: shownError(error), busy: false }))
      })
    return () => loading.abort()
  }, [...inputs, reloads])
  useRefresh(() => setReloads((before) => before + 1))
  /** @param {(value: T) => T} change */
  const change = (change) =>
    setState((before) => (before.value === undefined ? before : { ...before, value: change(before.value) }))
  return { ...state, change, reload: () => setReloads((before) => before + 1) }
}

/**
 * An action that the user triggers. While it runs, further triggers are ignored.
 * @template {unknown[]} Args
 * @param {(...args: Args) => Promise<unknown>} action
 */
export const useAction = (action) => {
  const [state, setState] = useState(/** @type {{ error?: ApiError, busy: boolean }} */ ({ busy: false }))
  const busy = useRef(false)
  const mounted = useRef(true)
  useEffect(() => {
    mounted.current = true
    return () => {
      mounted.current = false
    }
  }, [])
  /** @param {Args} args */
  const run = async (...args) => {
    if (busy.current) return
    busy.current = true
    setState({ busy: true })
    let error
    try {
      await action(...args)
    } catch (caught) {
      error = isAbort(caught) ? undefined : shownError(caught)
    }
    busy.current = false
    if (mounted.current) setState({ error, busy: false })
    // Its dialog was closed meanwhile.
    else if (error) showToast(error.message, { isError: true })
  }
  return { ...state, run }
}

/**
 * Polls every `ms` while `enabled` is true and the page is visible. After failures the interval doubles, up to a
 * minute; `Retry-After` extends it.
 * @param {() => Promise<unknown>} poll
 * @param {{ enabled: boolean, ms: number }} options
 */
export const usePolling = (poll, { enabled, ms }) => {
  const latest = useRef(poll)
  latest.current = poll
  const pollLatest = useCallback(() => latest.current(), [])
  useEffect(() => {
    if (!enabled) return
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    let stopped = false
    let polling = false
    let failures = 0
    const schedule = (/** @type {number} */ delayMs) => {
      clearTimeout(timer)
      if (!stopped && document.visibilityState === 'visible') timer = setTimeout(pollOnce, delayMs)
    }
    const pollOnce = async () => {
      if (polling) return
      polling = true
      let retryAfterMs = 0
      try {
        await pollLatest()
        failures = 0
      } catch (error) {
        failures++
        retryAfterMs = error instanceof ApiError ? 1000 * (error.retryAfter ?? 0) : 0
      }
      polling = false
      schedule(Math.max(retryAfterMs, Math.min(60_000, ms * 2 ** failures)))
    }
    const onVisibilityChange = () => schedule(document.visibilityState === 'visible' ? 0 : ms)
    document.addEventListener('visibilitychange', onVisibilityChange)
    schedule(ms)
    return () => {
      stopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibilityChange)
    }
  }, [enabled, ms])
}
