import { encode } from 'uqr'
import { html } from '../controls/html.js'

/**
 * A QR code. It is dark on light in every colour scheme, because scanners expect that. Throws for a text that is too
 * long.
 * @param {{ text: string, label: string }} props
 */
export const QrCode = ({ text, label }) => {
  // The quiet zone of four light modules is part of the code (ISO/IEC 18004).
  const { size, data } = encode(text, { ecc: 'L', border: 4 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return html`
    <svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label} shape-rendering="crispEdges">
      <rect width=${size} height=${size} />
      <path d=${path} />
    </svg>
  `
}
