import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from './html.js'
import { Icon } from './icons.js'
import { t } from './strings.js'

/** @typedef {import('./asset.js').Asset} Asset */

/**
 * An address that a browser may load or open; undefined for scripts and the like.
 * @param {unknown} text
 */
export const webAddress = (text) =>
  typeof text === 'string' && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined

/** Links of an object store are signed anew at every read, and work for hours: what is shown already is not loaded again. */
const steadyMs = 1_800_000

/** @param {Asset} asset */
const useSteadyAddress = ({ Id, Status, URL: address }) => {
  const kept = useRef({ key: '', at: 0, address: /** @type {string | undefined} */ (undefined) })
  const key = `${Id} ${Status}`
  if (kept.current.key !== key || Date.now() - kept.current.at > steadyMs || !kept.current.address) {
    kept.current = { key, at: Date.now(), address: webAddress(address) }
  }
  return kept.current.address
}

/**
 * What an asset looks like, in a box that has its size before anything is loaded.
 * @param {{ asset: Asset, title: string }} props
 */
export const Preview = ({ asset, title }) => {
  const address = useSteadyAddress(asset)
  const [failed, setFailed] = useState(false)
  useEffect(() => setFailed(false), [address])
  return html`<div class="preview">${address && !failed ? media(asset, address, title, () => setFailed(true)) : nothing(asset)}</div>`
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
const nothing = ({ AssetType, Status }) => html`
  <p class="nothing">
    <${Icon} name=${AssetType === 'Video' ? 'video' : AssetType === 'Audio' ? 'audio' : 'picture'} />
    <span>${Status === 'Processing' ? t.assets.notYet : t.assets.noPreview}</span>
  </p>
`
