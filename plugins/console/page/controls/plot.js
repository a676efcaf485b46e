import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from './html.js'

/** @typedef {{ name: string, values: readonly number[] }} Series one value for each label */

const height = 200
const [left, right, top, bottom] = [56, 8, 12, 24]
/** Series with a colour of their own. */
export const maxSeries = 6

/**
 * Stacked bars, drawn by ourselves: they need no library, and no inline style. The table that belongs to them says the
 * same.
 * @param {{ title: string, labels: readonly string[], series: readonly Series[], format: (value: number) => string,
 * formatLabel: (label: string) => string }} props
 */
export const Plot = ({ title, labels, series, format, formatLabel }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null))
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(240, Math.floor(entry?.contentRect.width ?? 640))),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const totals = labels.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const most = niceCeiling(Math.max(...totals, 0))
  const inner = width - left - right
  const step = inner / Math.max(1, labels.length)
  const scale = (height - top - bottom) / most
  // Half of one is no number of requests.
  const parts = most <= 1 ? [0, 1] : [0, 0.5, 1]
  const every = Math.ceil(labels.length / Math.max(1, Math.floor(inner / 72)))
  return html`
    <figure class="plot" ref=${box}>
      <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="img" aria-label=${title}>
        ${parts.map(
          (part) => html`
            <g key=${part}>
              <line class="grid" x1=${left} x2=${width - right} y1=${height - bottom - part * most * scale} y2=${height - bottom - part * most * scale} />
              <text class="tick" x=${left - 8} y=${height - bottom - part * most * scale + 4} text-anchor="end">${format(part * most)}</text>
            </g>
          `,
        )}
        ${labels.map((label, at) => {
          let below = 0
          return html`
            <g key=${label}>
              <title>${`${formatLabel(label)}: ${format(totals[at] ?? 0)}`}</title>
              <rect class="hit" x=${left + at * step} y=${top} width=${step} height=${height - top - bottom} />
              ${series.map(({ name, values }, index) => {
                const value = values[at] ?? 0
                below += value
                return (
                  value > 0 &&
                  html`<rect key=${name} class=${`series-${index}`} x=${left + at * step + step * 0.15} width=${step * 0.7} y=${height - bottom - below * scale} height=${Math.max(1, value * scale)} />`
                )
              })}
              ${at % every === 0 && html`<text class="tick" x=${left + (at + 0.5) * step} y=${height - 6} text-anchor="middle">${formatLabel(label)}</text>`}
            </g>
          `
        })}
      </svg>
      ${
        series.length > 1 &&
        html`
          <ul class="legend">
            ${series.map(({ name }, index) => html`<li key=${name}><svg viewBox="0 0 10 10" aria-hidden="true"><rect class=${`series-${index}`} width="10" height="10" rx="2" /></svg>${name}</li>`)}
          </ul>
        `
      }
    </figure>
  `
}

/** The next number of the form 1, 2, 5, or from 25 on 2.5, times a power of ten. @param {number} value */
const niceCeiling = (value) => {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factors = power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]
  return (factors.find((factor) => factor * power >= value) ?? 10) * power
}
