import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isAbort, shownError } from '../api/api-error.js'
import { useRefresh } from '../api/connection.js'
import { useApi } from '../frame/hooks.js'

/**
 * @template Item
 * @typedef {object} Loaded a list, as far as it has been loaded
 * @property {string} key path and parameters
 * @property {(Item | undefined)[]} items by their index; undefined: not loaded yet
 * @property {number} [total]
 * @property {import('../api/api-error.js').ApiError} [error]
 * @property {Set<number>} asked pages that were loaded, from 0
 * @property {Map<number, AbortController>} loading
 */

/** Items of one request. The server finds a page of this size with one call of its upstream. */
const pageSize = 48
/** Items before and after the visible ones that are loaded too. */
const margin = 24
/** While the user scrolls, pages are requested this often. */
const settleMs = 60

/** Counts changes of the route: a list that the user returns to from its neighbour is as it was. */
let visits = 0
addEventListener('hashchange', () => visits++)

/** Frames after which the rows have their heights, and the frame has put the focus on the heading. */
const restoringFrames = 12

/** @param {number} top @param {number} frames @param {number} visit */
const restore = (top, frames, visit = visits) => {
  // The user has gone on: another screen begins at its top.
  if (visits !== visit) return
  if (Math.abs(scrollY - top) > 1) scrollTo(0, top)
  if (frames > 0) requestAnimationFrame(() => restore(top, frames - 1, visit))
}

/** @type {{ list: Loaded<any>, top: number, visit: number } | undefined} */
let left

/** Loads the list anew when the user returns to it: something in it has changed. */
export const forgetList = () => {
  left = undefined
}

/**
 * @template Item
 * @param {string} key
 * @returns {Loaded<Item>}
 */
const emptyList = (key) => ({ key, items: [], asked: new Set(), loading: new Map() })

/**
 * A list of the asset library of any length: pages are loaded as they come into view, by their number. Changed
 * parameters load it anew; the previous items stay until then.
 * @template {{ Id: string }} Item
 * @param {string} path
 * @param {Readonly<Record<string, string>>} query parameters; an empty one is omitted
 */
export const useLongList = (path, query) => {
  const api = useApi()
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  const key = `${path}?${parameters}`
  const [, setVersion] = useState(0)
  const render = () => setVersion((before) => before + 1)
  const returning = useRef(left?.list.key === key && visits - left.visit === 1 ? left : undefined)
  /** The list that is shown, and the one that is loaded: another one until its first page is there. */
  const shown = useRef(/** @type {Loaded<Item>} */ (returning.current?.list ?? emptyList(key)))
  const wanted = useRef(shown.current)
  const range = useRef(/** @type {readonly [number, number]} */ ([0, pageSize - margin]))
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined))

  /** @param {Loaded<Item>} list @param {number} page */
  const load = async (list, page) => {
    const controller = new AbortController()
    list.loading.set(page, controller)
    list.error = undefined
    render()
    try {
      const address = `${list.key}&PageSize=${pageSize}&PageNumber=${page + 1}`
      const { Result } = await api.requestWithToken(address, { signal: controller.signal })
      if (controller.signal.aborted) return
      fill(list, page, Result?.Items ?? [], Result?.TotalCount ?? 0)
      if (wanted.current === list) shown.current = list
    } catch (error) {
      if (!controller.signal.aborted && !isAbort(error)) list.error = shownError(error)
    }
    if (list.loading.get(page) === controller) list.loading.delete(page)
    if (wanted.current === list) {
      render()
      if (!list.error) loadSoon()
    }
  }

  /** Loads the pages in view, and stops loading others. */
  const loadRange = () => {
    timer.current = undefined
    const list = wanted.current
    const pages = pagesOf(list, range.current)
    for (const [page, controller] of list.loading) {
      if (pages.includes(page) || list.total === undefined) continue
      controller.abort()
      list.loading.delete(page)
    }
    // The first answer tells how many there are.
    const next = list.total === undefined ? pages.slice(0, 1) : pages
    for (const page of next) if (!list.asked.has(page) && !list.loading.has(page)) void load(list, page)
  }
  const loadSoon = () => {
    timer.current ??= setTimeout(loadRange, settleMs)
  }

  /** @param {Loaded<Item>} list */
  const begin = (list) => {
    for (const controller of wanted.current.loading.values()) controller.abort()
    wanted.current = list
    clearTimeout(timer.current)
    loadRange()
  }
  useEffect(() => {
    if (wanted.current.key === key && wanted.current.total !== undefined) return
    range.current = [0, pageSize - margin]
    begin(emptyList(key))
  }, [key])
  // Layout effects, because others end after the next screen is there: the page is scrolled to its top by then.
  useLayoutEffect(() => {
    const back = returning.current
    if (back) restore(back.top, restoringFrames)
    let top = back?.top ?? 0
    const onScroll = () => {
      top = scrollY
    }
    addEventListener('scroll', onScroll, { passive: true })
    return () => {
      removeEventListener('scroll', onScroll)
      left = { list: shown.current, top, visit: visits }
      clearTimeout(timer.current)
      for (const controller of wanted.current.loading.values()) controller.abort()
      wanted.current.loading.clear()
    }
  }, [])

  useRefresh(() => begin(emptyList(key)))

  /** @param {(list: Loaded<Item>) => void} change */
  const edit = (change) => {
    change(shown.current)
    render()
    loadSoon()
  }
  const list = shown.current
  return {
    items: list.items,
    /** Undefined until the first page is there. */
    total: list.total,
    error: wanted.current.error,
    busy: wanted.current !== list || wanted.current.loading.size > 0,
    /** Tells which items are visible. */
    show: useCallback((/** @type {number} */ first, /** @type {number} */ last) => {
      range.current = [first, last]
      loadSoon()
    }, []),
    reload: () => begin(emptyList(key)),
    /**
     * Replaces the item with the same id, or adds the item as the first one.
     * @param {Item} item
     */
    upsert: (item) =>
      edit((loaded) => {
        const index = loaded.items.findIndex((one) => one?.Id === item.Id)
        if (index === -1) {
          loaded.items.splice(0, 0, item)
          loaded.total = (loaded.total ?? 0) + 1
        } else loaded.items[index] = item
      }),
    /**
     * Replaces an item by a newer state that was read from the server. Does nothing when `previous` is no longer in the
     * list, or was changed since the request.
     * @param {Item} previous
     * @param {Item} item
     */
    refresh: (previous, item) =>
      edit(({ items }) => {
        const index = items.indexOf(previous)
        if (index !== -1) items[index] = item
      }),
    /** @param {readonly string[]} ids */
    remove: (ids) =>
      edit((loaded) => {
        for (const id of ids) {
          const index = loaded.items.findIndex((one) => one?.Id === id)
          if (index === -1) continue
          loaded.items.splice(index, 1)
          loaded.total = Math.max(0, (loaded.total ?? 0) - 1)
          // The items of the next pages have moved up by one.
          loaded.asked.clear()
          for (const page of completePages(loaded.items)) loaded.asked.add(page)
        }
      }),
  }
}

/**
 * @template Item
 * @param {Loaded<Item>} list
 * @param {number} page
 * @param {readonly Item[]} items
 * @param {number} total
 */
const fill = (list, page, items, total) => {
  if (list.total !== undefined && list.total !== total) {
    // The list has changed on the server: other pages may be wrong too.
    list.items = []
    list.asked.clear()
  }
  list.total = total
  list.items.length = total
  for (const [at, item] of items.entries()) {
    const index = page * pageSize + at
    if (index < total) list.items[index] = item
  }
  list.asked.add(page)
}

/** @param {readonly unknown[]} items */
const completePages = (items) => {
  const pages = []
  for (let page = 0; page * pageSize < items.length; page++) {
    let complete = true
    for (let at = page * pageSize; at < Math.min(items.length, (page + 1) * pageSize); at++)
      complete &&= items[at] !== undefined
    if (complete) pages.push(page)
  }
  return pages
}

/**
 * @param {Loaded<unknown>} list
 * @param {readonly [number, number]} range
 */
const pagesOf = ({ total = Number.POSITIVE_INFINITY }, [first, last]) => {
  const from = Math.max(0, Math.floor((first - margin) / pageSize))
  const end = Math.min(total, last + margin)
  const pages = []
  for (let page = from; page * pageSize < end; page++) pages.push(page)
  return pages.length > 0 || total > 0 ? (pages.length > 0 ? pages : [0]) : []
}
