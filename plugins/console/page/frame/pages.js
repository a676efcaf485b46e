import { useEffect, useRef, useState } from 'preact/hooks'
import { isAbort, messageOf } from '../api/api-error.js'
import { useApi } from './hooks.js'

/**
 * @template Item
 * @typedef {{ items: readonly Item[], next: string, total: number }} Pages
 */

/** @typedef {{ [name: string]: string }} Query */

const pageSize = '24'

/**
 * A list of the asset library, which loads further pages on demand. Changed parameters load it anew; the previous items
 * stay until then.
 * @template {{ Id: string }} Item
 * @param {string} path
 * @param {Query} query parameters; an empty one is omitted
 */
export const usePages = (path, query) => {
  const api = useApi()
  const filter = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  const [state, setState] = useState(
    /** @type {{ pages?: Pages<Item>, error?: string, busy: boolean }} */ ({ busy: true }),
  )
  const [reloads, setReloads] = useState(0)
  const request = useRef(new AbortController())

  /**
   * @param {string} token
   * @param {readonly Item[]} before
   */
  const load = async (token, before) => {
    request.current.abort()
    const controller = new AbortController()
    request.current = controller
    const { signal } = controller
    setState(({ pages }) => ({ pages, busy: true }))
    const parameters = new URLSearchParams(filter)
    parameters.set('PageSize', pageSize)
    if (token) parameters.set('NextToken', token)
    try {
      const { Result } = await api.requestWithToken(`${path}?${parameters}`, { signal })
      const known = new Set(before.map(({ Id }) => Id))
      /** @type {readonly Item[]} */
      const added = Result?.Items ?? []
      const items = [...before, ...added.filter(({ Id }) => !known.has(Id))]
      const pages = { items, next: Result?.NextToken ?? '', total: Result?.TotalCount ?? items.length }
      if (!signal.aborted) setState({ pages, busy: false })
    } catch (error) {
      if (signal.aborted || isAbort(error)) return
      setState(({ pages }) => ({ pages, error: messageOf(error), busy: false }))
    }
  }

  useEffect(() => {
    void load('', [])
    return () => request.current.abort()
  }, [path, filter, reloads])

  /** @param {(pages: Pages<Item>) => Pages<Item>} change */
  const update = (change) => setState((before) => ({ ...before, pages: before.pages && change(before.pages) }))
  return {
    ...state,
    loadMore: () => load(state.pages?.next ?? '', state.pages?.items ?? []),
    reload: () => setReloads((before) => before + 1),
    /**
     * Replaces the item with the same id, or adds the item as the first one.
     * @param {Item} item
     */
    upsert: (item) =>
      update(({ items, next, total }) => {
        const known = items.some(({ Id }) => Id === item.Id)
        const updated = known ? items.map((one) => (one.Id === item.Id ? item : one)) : [item, ...items]
        return { items: updated, next, total: known ? total : total + 1 }
      }),
    /**
     * Replaces an item by a newer state that was read from the server. Does nothing when `previous` is no longer in the
     * list, or was changed since the request.
     * @param {Item} previous
     * @param {Item} item
     */
    refresh: (previous, item) =>
      update((pages) => ({ ...pages, items: pages.items.map((one) => (one === previous ? item : one)) })),
    /** @param {string} id */
    remove: (id) =>
      update(({ items, next, total }) => {
        const remaining = items.filter(({ Id }) => Id !== id)
        return { items: remaining, next, total: total - (items.length - remaining.length) }
      }),
  }
}
