import { useLayoutEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { Icon } from './icons.js'

/**
 * A small decorative picture of a file: the text beside it names the file.
 * @param {{ type: string, address: string | undefined }} props
 */
export const Thumbnail = ({ type, address }) => {
  const [failed, setFailed] = useState(false)
  useLayoutEffect(() => setFailed(false), [address])
  const fail = () => setFailed(true)
  return html`
    <span class="thumbnail" aria-hidden="true">
      ${
        address && !failed && type === 'Image'
          ? html`<img src=${address} alt="" loading="lazy" decoding="async" referrerpolicy="no-referrer" onError=${fail} />`
          : address && !failed && type === 'Video'
            ? html`<video src=${address} muted playsinline preload="metadata" tabindex="-1" onError=${fail}></video>`
            : html`<${Icon} name=${type === 'Video' ? 'video' : type === 'Audio' ? 'audio' : 'picture'} />`
      }
    </span>
  `
}
