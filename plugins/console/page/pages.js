import { useEffect, useRef, useState } from 'preact/hooks'
import { useApi } from './asking.js'
import { isAbort, messageOf } from './refusal.js'

/**
 * @template Item
 * @typedef {{ items: readonly Item[], next: string, total: number }} Pages
 */

/** @typedef {{ [name: string]: string }} Query */

const size = '24'

/**
 * A list of the asset library, read page after page on demand. Other parameters start it anew; what was there stays until then.
 * @template {{ Id: string }} Item
 * @param {string} path
 * @param {Query} query empty ones are left out
 */
export const usePages = (path, query) => {
  const api = useApi()
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  const [state, setState] = useState(
    /** @type {{ pages?: Pages<Item>, error?: string, busy: boolean }} */ ({ busy: true }),
  )
  const [round, setRound] = useState(0)
  const leaving = useRef(new AbortController())

  /**
   * @param {string} token
   * @param {readonly Item[]} before
   */
  const read = async (token, before) => {
    leaving.current.abort()
    const left = new AbortController()
    leaving.current = left
    const { signal } = left
    setState(({ pages }) => ({ pages, busy: true }))
    const asked = new URLSearchParams(given)
    asked.set('PageSize', size)
    if (token) asked.set('NextToken', token)
    try {
      const { Result } = await api.askWithToken(`${path}?${asked}`, { signal })
      const known = new Set(before.map(({ Id }) => Id))
      /** @type {readonly Item[]} */
      const more = Result?.Items ?? []
      const items = [...before, ...more.filter(({ Id }) => !known.has(Id))]
      const pages = { items, next: Result?.NextToken ?? '', total: Result?.TotalCount ?? items.length }
      if (!signal.aborted) setState({ pages, busy: false })
    } catch (error) {
      if (signal.aborted || isAbort(error)) return
      setState(({ pages }) => ({ pages, error: messageOf(error), busy: false }))
    }
  }

  useEffect(() => {
    void read('', [])
    return () => leaving.current.abort()
  }, [path, given, round])

  /** @param {(pages: Pages<Item>) => Pages<Item>} change */
  const change = (change) => setState((before) => ({ ...before, pages: before.pages && change(before.pages) }))
  return {
    ...state,
    more: () => read(state.pages?.next ?? '', state.pages?.items ?? []),
    reload: () => setRound((before) => before + 1),
    /** @param {Item} item */
    put: (item) =>
      change(({ items, next, total }) => {
        const known = items.some(({ Id }) => Id === item.Id)
        const put = known ? items.map((one) => (one.Id === item.Id ? item : one)) : [item, ...items]
        return { items: put, next, total: known ? total : total + 1 }
      }),
    /**
     * What was read of an item: the item has that place only if it is listed still, and nobody has changed it since it was asked for.
     * @param {Item} asked
     * @param {Item} item
     */
    refresh: (asked, item) =>
      change((pages) => ({ ...pages, items: pages.items.map((one) => (one === asked ? item : one)) })),
    /** @param {string} id */
    remove: (id) =>
      change(({ items, next, total }) => {
        const left = items.filter(({ Id }) => Id !== id)
        return { items: left, next, total: total - (items.length - left.length) }
      }),
  }
}
