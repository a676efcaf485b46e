import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../words/words.js'
import { html } from './html.js'
import { Icon } from './icons.js'

/** @typedef {import('../assets/asset.js').Asset} Asset */

/**
 * Returns an http or https address unchanged. Undefined for any other text, such as a `javascript:` address.
 * @param {unknown} text
 */
export const httpUrl = (text) =>
  typeof text === 'string' && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined

/**
 * The upstream signs the address anew at every read, and it is valid for hours.
 *
 * For this time the first one stays, so that the media is not loaded again.
 */
const reuseMs = 1_800_000

/** @param {Asset} asset */
const useStableAddress = ({ Id, Status, URL: address }) => {
  const cached = useRef({ key: '', at: 0, address: /** @type {string | undefined} */ (undefined) })
  const key = `${Id} ${Status}`
  if (cached.current.key !== key || Date.now() - cached.current.at > reuseMs || !cached.current.address) {
    cached.current = { key, at: Date.now(), address: httpUrl(address) }
  }
  return cached.current.address
}

/**
 * The preview of an asset. Its box has a fixed size, so the layout does not shift when the media loads.
 * @param {{ asset: Asset, title: string }} props
 */
export const Preview = ({ asset, title }) => {
  const address = useStableAddress(asset)
  const [failed, setFailed] = useState(false)
  useLayoutEffect(() => setFailed(false), [address])
  return html`<div class="preview">${address && !failed ? media(asset, address, title, () => setFailed(true)) : noPreview(asset)}</div>`
}

/**
 * @param {Asset} asset
 * @param {string} address
 * @param {string} title
 * @param {() => void} onError
 */
const media = ({ AssetType }, address, title, onError) => {
  if (AssetType === 'Image') {
    return html`<img src=${address} alt=${title} loading="lazy" decoding="async" referrerpolicy="no-referrer" onError=${onError} />`
  }
  const label = t.assets.preview(title)
  if (AssetType === 'Video') {
    return html`<video src=${address} aria-label=${label} controls muted playsinline preload="metadata" onError=${onError}></video>`
  }
  return html`<audio src=${address} aria-label=${label} controls preload="none" onError=${onError}></audio>`
}

/** @param {Asset} asset */
const noPreview = ({ AssetType, Status }) => html`
  <p class="no-preview">
    <${Icon} name=${AssetType === 'Video' ? 'video' : AssetType === 'Audio' ? 'audio' : 'picture'} />
    <span>${Status === 'Processing' ? t.assets.stillProcessing : t.assets.noPreview}</span>
  </p>
`
