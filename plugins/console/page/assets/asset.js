import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { FormDialog } from '../controls/dialog.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { t } from '../words/words.js'

/**
 * @typedef {object} Asset
 * @property {string} Id
 * @property {string} GroupId
 * @property {string} [Name]
 * @property {string} AssetType Image, Video; Audio on some upstreams
 * @property {string} Status Active, Processing, Failed
 * @property {string} [URL]
 * @property {string} [CreateTime]
 * @property {string} [UpdateTime]
 * @property {{ Code?: string, Message?: string } | null} [Error] why it failed, when the upstream gives a reason
 */
/** @typedef {import('../api/api.js').Api} Api */
/** @typedef {'AIGC' | 'LivenessFace'} GroupType */

export const assetsPath = `${paths.library}/assets`

/** @param {string} id */
export const pathOf = (id) => `${assetsPath}/${encodeURIComponent(id)}`

/**
 * @param {Api} api
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Asset>}
 */
export const readAsset = async (api, id, signal) => (await api.requestWithToken(pathOf(id), { signal })).Result

/**
 * @param {Api} api
 * @param {Asset} asset
 */
export const deleteAsset = async (api, asset) => {
  await api.requestWithToken(pathOf(asset.Id), { method: 'DELETE' })
  showToast(t.assets.deleted(titleOf(asset)))
}

/** @param {Pick<Asset, 'Name' | 'Id'>} asset */
export const titleOf = ({ Name, Id }) => Name || Id

/** How a request names an asset. @param {Pick<Asset, 'Id'>} asset */
export const referenceOf = ({ Id }) => `asset://${Id}`

/** @param {Asset} asset */
export const statusOf = ({ Status }) => /** @type {Record<string, string>} */ (t.assets.statuses)[Status] ?? Status

/** @param {Asset} asset */
export const typeOf = ({ AssetType }) => /** @type {Record<string, string>} */ (t.assets.types)[AssetType] ?? AssetType

/** @type {readonly (readonly [string, string])[]} */
export const statusChoices = [['', t.assets.anyStatus], ...Object.entries(t.assets.statuses)]

/** @type {readonly (readonly [string, string])[]} */
export const typeChoices = [['', t.assets.anyType], ...Object.entries(t.assets.types)]

/** What a file seems to be. @param {string} address */
export const typeByExtension = (address) => {
  if (/\.(?:mp4|mov|webm|m4v)(?:[?#]|$)/i.test(address)) return 'Video'
  return /\.(?:mp3|wav)(?:[?#]|$)/i.test(address) ? 'Audio' : 'Image'
}

/** @type {readonly (readonly [string, string])[]} */
const types = [
  ['Image', t.assets.types.Image],
  ['Video', t.assets.types.Video],
  ['Audio', t.assets.types.Audio],
]

/**
 * @param {{ group: string, type: GroupType, onDone: (asset: Asset) => void, onClose: () => void }} props
 */
export const AddAsset = ({ group, type, onDone, onClose }) => {
  const api = useApi()
  const [kind, setKind] = useState('Image')
  const guess = (/** @type {Event} */ event) =>
    setKind(typeByExtension(/** @type {HTMLInputElement} */ (event.currentTarget).value))
  const choose = (/** @type {Event} */ event) => setKind(/** @type {HTMLSelectElement} */ (event.currentTarget).value)
  const submit = async (/** @type {Record<string, string>} */ { URL: address = '', AssetType = '', Name }) => {
    const body = { GroupId: group, GroupType: type, URL: address, AssetType, ...(Name && { Name }) }
    const { Result } = await api.requestWithToken(assetsPath, { method: 'POST', body })
    const id = String(Result.Id)
    /** @type {Asset} */
    const created = { Id: id, GroupId: group, Name, AssetType, Status: 'Processing' }
    onDone(await readAsset(api, id).catch(() => created))
    showToast(t.assets.added)
  }
  return html`
    <${FormDialog} title=${t.assets.add} submitLabel=${t.assets.add} action=${submit} onClose=${onClose}>
      <${Field}
        label=${t.assets.address}
        hint=${type === 'LivenessFace' ? t.assets.addressHintFace : t.assets.addressHint}
        name="URL"
        type="url"
        inputmode="url"
        placeholder="https://"
        onChange=${guess}
        autocomplete="off"
        required
      />
      <${Select} label=${t.assets.kind} name="AssetType" value=${kind} choices=${types} onChange=${choose} />
      <${Field} label=${t.assets.name} hint=${t.optional} name="Name" maxlength="64" autocomplete="off" />
      ${paths.batches && html`<p><a href=${linkTo('batches', 'new', type, group)}>${t.assets.addMany}</a></p>`}
    <//>
  `
}

/**
 * @param {{ asset: Asset, onDone: (asset: Asset) => void, onClose: () => void }} props
 */
export const RenameAsset = ({ asset, onDone, onClose }) => {
  const api = useApi()
  const submit = async (/** @type {Record<string, string>} */ { Name = '' }) => {
    if (Name !== asset.Name) await api.requestWithToken(pathOf(asset.Id), { method: 'PATCH', body: { Name } })
    onDone({ ...asset, Name })
    showToast(t.saved)
  }
  return html`
    <${FormDialog} title=${t.assets.rename} submitLabel=${t.save} action=${submit} onClose=${onClose}>
      <${Field} label=${t.assets.name} name="Name" defaultValue=${asset.Name ?? ''} maxlength="64" required autocomplete="off" />
    <//>
  `
}
