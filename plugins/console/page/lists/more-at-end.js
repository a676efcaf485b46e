import { useEffect, useRef } from 'preact/hooks'
import { html } from '../controls/html.js'
import { t } from '../words/words.js'

/** The next items are loaded when the end of the list is so near. */
const rootMargin = '600px'

/**
 * The end of a list, which loads more when it comes into view. It says how many items are shown.
 * @param {{ shown: number, total: number, busy: boolean, loadMore: () => void }} props
 */
export const MoreAtEnd = ({ shown, total, busy, loadMore }) => {
  const end = useRef(/** @type {HTMLElement | null} */ (null))
  const latest = useRef(loadMore)
  latest.current = loadMore
  const hasMore = shown < total
  useEffect(() => {
    if (!hasMore || busy || !end.current) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) latest.current()
      },
      { rootMargin },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [hasMore, busy, shown])
  return html`<p class="list-end" ref=${end}>${t.shown(shown, total)}</p>`
}
