import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * @typedef {object} View
 * @property {number} columns
 * @property {number} row height of a row with the gap below it, in CSS pixels
 * @property {number} first index of the first rendered row
 * @property {number} last index after the last rendered row
 */

/** Rows that are rendered above and below the visible ones, so that scrolling finds them ready. */
const overscan = 4

/**
 * Which items of a long list are visible, so that only these are in the page. All rows have the same height, which is
 * measured; items of a grid share a row.
 * @param {object} options
 * @param {number} options.count number of items
 * @param {number} options.rowHeight estimated, until a row has been measured
 * @param {number} [options.minColumn] minimum width of an item of a grid, in CSS pixels. Default: one item a row
 * @param {number} [options.gap] between the columns. Default 0
 * @param {{ current: HTMLElement | null }} [options.scroller] the element that scrolls. Default:
 * the page
 */
export const useVisibleRows = ({ count, rowHeight, minColumn, gap = 0, scroller }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null))
  const [view, setView] = useState(/** @type {View} */ ({ columns: 1, row: rowHeight, first: 0, last: 2 * overscan }))

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    let frame = 0
    const measure = () => {
      frame = 0
      setView((before) => {
        const after = viewOf(element, scroller?.current, before, { minColumn, gap })
        const isSame = /** @type {(keyof View)[]} */ (['columns', 'row', 'first', 'last']).every(
          (name) => before[name] === after[name],
        )
        return isSame ? before : after
      })
    }
    const measureSoon = () => {
      frame ||= requestAnimationFrame(measure)
    }
    const area = scroller?.current ?? window
    area.addEventListener('scroll', measureSoon, { passive: true })
    addEventListener('resize', measureSoon)
    // The width decides about the columns, and the height of the items about that of the rows.
    const observer = new ResizeObserver(measureSoon)
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    measure()
    return () => {
      cancelAnimationFrame(frame)
      area.removeEventListener('scroll', measureSoon)
      removeEventListener('resize', measureSoon)
      observer.disconnect()
    }
  }, [minColumn, gap, count === 0])

  const rows = Math.ceil(count / view.columns)
  const firstRow = Math.max(0, Math.min(view.first, rows - 1))
  const first = firstRow * view.columns
  const last = Math.min(count, Math.max(view.last, firstRow + 1) * view.columns)
  return {
    box,
    columns: view.columns,
    /** Index of the first rendered item, and the one after the last. */
    first,
    last,
    /** Height of all rows, and of those above the rendered ones. */
    height: rows * view.row,
    above: firstRow * view.row,
  }
}

/**
 * @param {HTMLElement} element
 * @param {HTMLElement | null | undefined} scroller
 * @param {View} before
 * @param {{ minColumn: number | undefined, gap: number }} options
 * @returns {View}
 */
const viewOf = (element, scroller, before, { minColumn, gap }) => {
  const columns = minColumn === undefined ? 1 : Math.max(1, Math.floor((element.clientWidth + gap) / (minColumn + gap)))
  const row = heightOf(element, before)
  const area = scroller ? scroller.getBoundingClientRect() : { top: 0, bottom: innerHeight }
  const hidden = area.top - element.getBoundingClientRect().top
  // Even numbers only: half as many renders.
  const first = 2 * Math.floor(Math.max(0, hidden / row - overscan) / 2)
  const last = 2 * Math.ceil(Math.max(0, (hidden + area.bottom - area.top) / row + overscan) / 2)
  return { columns, row, first, last }
}

/**
 * The height of a row with its gap: the distance between the first items of two rendered rows.
 * @param {HTMLElement} element
 * @param {View} before
 */
const heightOf = (element, { columns, row }) => {
  const items = element.querySelectorAll('[data-item]')
  const [one, other] = [items[0], items[columns]]
  if (!one || !other) return row
  const height = other.getBoundingClientRect().top - one.getBoundingClientRect().top
  // Less is rounding, which is not the same everywhere on the page: the rows would never come to rest.
  return height > 0 && Math.abs(height - row) > 0.5 ? height : row
}

/**
 * Calls `show` whenever other items are rendered.
 * @param {{ first: number, last: number }} rows
 * @param {(first: number, last: number) => void} show
 */
export const useShown = ({ first, last }, show) => {
  useEffect(() => show(first, last), [first, last, show])
}
