import { html } from './html.js'

/** SVG paths on a grid of 24 by 24. */
const outlines = {
  groups: 'M4 7.5a2 2 0 0 1 2-2h3.5l2 2.5H18a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2z',
  face: 'M4 8V6a2 2 0 0 1 2-2h2M16 4h2a2 2 0 0 1 2 2v2M20 16v2a2 2 0 0 1-2 2h-2M8 20H6a2 2 0 0 1-2-2v-2M9 10v.5M15 10v.5M9 14.5c1.7 1.7 4.3 1.7 6 0',
  chat: 'M5 5h14a1.5 1.5 0 0 1 1.5 1.5v9A1.5 1.5 0 0 1 19 17h-7l-4.5 3.5V17H5a1.5 1.5 0 0 1-1.5-1.5v-9A1.5 1.5 0 0 1 5 5zM8 9.5h8M8 12.5h5',
  usage: 'M4 20h16M7 16v-4M12 16V6M17 16V9',
  tokens: 'M14.5 13.5a4.5 4.5 0 1 0-4.2-2.8L4 17v3h3l1-1v-2h2l2.3-2.3a4.5 4.5 0 0 0 2.2-1.2zM15.5 8.5v.01',
  admin: 'M5 7h8M17 7h2M5 12h2M11 12h8M5 17h6M15 17h4M13 5v4M9 10v4M13 15v4',
  person: 'M12 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM5 19.5c.6-3.4 3.5-5 7-5s6.4 1.6 7 5',
  add: 'M12 5v14M5 12h14',
  download: 'M12 5v11M7.5 11.5 12 16l4.5-4.5M5 19h14',
  upload: 'M12 16V5M7.5 9.5 12 5l4.5 4.5M5 19h14',
  videos: 'M4 6a1 1 0 0 1 1-1h14a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM10 9v6l5-3z',
  webhook:
    'M9 15a4 4 0 1 1-3-6.7M15 15a4 4 0 1 0 3-6.7M12 5a3.5 3.5 0 0 1 1.8 6.5L16 16M12 5a3.5 3.5 0 0 0-1.8 6.5L8 16',
  leave: 'M14 5H6v14h8M10 12h10M17 8.5 20.5 12 17 15.5',
  picture:
    'M4 6a1 1 0 0 1 1-1h14a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM4 16l4.5-4.5 4 4 2.5-2.5 5 5M15 9.2v.01',
  video: 'M4 7a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1zM15 11l5-3v8l-5-3',
  audio: 'M5 10v4M9 7v10M13 9v6M17 5v14',
  check: 'M5 12.5 10 17.5 19.5 7',
  alert: 'M12 8v5M12 16.2v.01M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17z',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M14 6l-6 6 6 6',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM11 18h2',
}

/** @typedef {keyof typeof outlines} IconName */

/**
 * A decorative icon: hidden from screen readers, because the text beside it says the same.
 * @param {{ name: IconName }} props
 */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${outlines[name]} /></svg>
`

/** The logo. */
export const Logo = () => html`
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" />
    <path
      d="M7 12c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5M7 17.5c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5M7 23c3 0 3-2.5 6-2.5s3 2.5 6 2.5 3-2.5 6-2.5"
    />
  </svg>
`
