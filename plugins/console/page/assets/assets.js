import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { FormDialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading, More } from '../controls/placeholder.js'
import { httpUrl, Preview } from '../controls/preview.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { usePages } from '../frame/pages.js'
import { linkTo, navigate } from '../frame/route.js'
import { useDroppedFiles } from '../uploads/dropped-files.js'
import { FilePicker, UploadList } from '../uploads/upload-list.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { AddAsset, assetsPath, deleteAsset, RenameAsset, readAsset, titleOf } from './asset.js'
import { useAssetWatch } from './asset-watch.js'
import { deleteGroup, EditGroup, readGroup } from './group.js'
import { NameFilter, setOrderFrom } from './groups.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {{ kind: 'add' | 'edit group' | 'delete group' } | { kind: 'rename' | 'delete', asset: Asset }} Open */
/** @typedef {ReturnType<typeof usePages<Asset>>} List */

/**
 * A group, and the assets in it.
 * @param {{ type: import('./group.js').GroupType, id: string, uploads: import('../uploads/uploads.js').Uploads }} props
 */
export const Assets = ({ type, id, uploads }) => {
  const api = useApi()
  const group = useLoaded((signal) => readGroup(api, id, signal), [id])
  const [name, setName] = useState('')
  const [status, setStatus] = useState('')
  const [order, setOrder] = useState('CreateTime Desc')
  const [open, setOpen] = useState(/** @type {Open | undefined} */ (undefined))
  const [SortBy = '', SortOrder = ''] = order.split(' ')
  /** @type {List} */
  const list = usePages(assetsPath, {
    GroupType: type,
    GroupIds: id,
    Name: name,
    Statuses: status,
    SortBy,
    SortOrder,
  })
  const close = () => setOpen(undefined)
  useStatusWatch(list, uploads)
  const title = group.value?.Name || id
  const addFiles = paths.uploads
    ? (/** @type {readonly File[]} */ files) => uploads.add(files, { id, type })
    : undefined
  const dragging = useDroppedFiles(addFiles)
  useEffect(() => uploads.listen((asset) => asset.GroupId === id && list.upsert(asset)), [id])

  return html`
    <a class="back" href=${linkTo('groups', type)}><${Icon} name="back" />${t.groups.type[type]}</a>
    <div class="heading">
      <h1 tabindex="-1">${group.busy && !group.value ? t.loading : title}</h1>
      <div class="actions">
        ${
          group.value &&
          html`
            <button type="button" onClick=${() => setOpen({ kind: 'edit group' })}>${t.edit}</button>
            <button type="button" class="danger" onClick=${() => setOpen({ kind: 'delete group' })}>${t.delete}</button>
          `
        }
        <button type="button" class=${addFiles ? '' : 'primary'} onClick=${() => setOpen({ kind: 'add' })}><${Icon} name="add" />${t.assets.add}</button>
        ${addFiles && html`<${FilePicker} label=${t.uploads.choose} onFiles=${addFiles} />`}
      </div>
    </div>
    ${group.value?.Description && html`<p class="lead">${group.value.Description}</p>`}
    <p class="hint"><code>${id}</code></p>
    <p class=${addFiles ? 'hint drop-hint' : 'hint'}>${addFiles ? t.uploads.dropHint : t.uploads.notOffered}</p>
    <${Failure} message=${group.error} retry=${group.reload} />
    <${UploadList} uploads=${uploads} group=${id} />
    ${dragging && html`<div class="drop-target"><p><${Icon} name="upload" />${t.uploads.drop(title)}</p></div>`}
    <${NameFilter} name=${name} onChange=${setName}>
      <${Select} label=${t.assets.status} value=${status} choices=${statuses} onChange=${setOrderFrom(setStatus)} />
      <${Select} label=${t.sort} value=${order} choices=${orders} onChange=${setOrderFrom(setOrder)} />
    <//>
    ${!group.error && html`<${Failure} message=${list.error} retry=${list.reload} />`}
    ${!list.pages && list.busy && html`<${Loading} kind="cards" count=${6} />`}
    ${list.pages && (list.pages.items.length > 0 ? cards(list, setOpen) : emptyList(name || status, () => setOpen({ kind: 'add' })))}
    ${open?.kind === 'add' && html`<${AddAsset} group=${id} type=${type} onDone=${list.upsert} onClose=${close} />`}
    ${open?.kind === 'rename' && html`<${RenameAsset} asset=${open.asset} onDone=${list.upsert} onClose=${close} />`}
    ${
      open?.kind === 'delete' &&
      html`<${FormDialog} danger title=${t.assets.delete} submitLabel=${t.assets.delete} onClose=${close}
        action=${async () => {
          await deleteAsset(api, open.asset)
          list.remove(open.asset.Id)
        }}><p>${t.assets.deleteWarning(titleOf(open.asset))}</p><//>`
    }
    ${
      open?.kind === 'edit group' &&
      group.value &&
      html`<${EditGroup} group=${group.value} onDone=${(/** @type {any} */ changed) => group.change(() => changed)} onClose=${close} />`
    }
    ${
      open?.kind === 'delete group' &&
      group.value &&
      html`<${FormDialog} danger title=${t.groups.delete} submitLabel=${t.groups.delete} onClose=${close}
        action=${async () => {
          if (group.value) await deleteGroup(api, group.value)
          navigate('groups', type)
        }}><p>${t.groups.deleteWarning(title)}</p><//>`
    }
  `
}

/**
 * Watches the assets with status Processing, and updates the list. Those of uploads are watched there.
 * @param {List} list
 * @param {import('../uploads/uploads.js').Uploads} uploads
 */
const useStatusWatch = (list, uploads) => {
  const api = useApi()
  const uploaded = new Set(uploads.items.map(({ asset }) => asset?.Id))
  const processing = (list.pages?.items ?? []).filter(({ Id, Status }) => Status === 'Processing' && !uploaded.has(Id))
  const read = async (/** @type {string} */ id) => {
    const asset = processing.find(({ Id }) => Id === id)
    if (!asset) return
    try {
      const current = await readAsset(api, id)
      list.refresh(asset, current)
      if (current.Status !== asset.Status) {
        showToast(t.assets.statusChanged(titleOf(current), statusOf(current)), { isError: current.Status === 'Failed' })
      }
    } catch (error) {
      // Another client has deleted it.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) list.remove(id)
      else throw error
    }
  }
  useAssetWatch(
    processing.map(({ Id }) => Id),
    read,
  )
}

/** @param {Asset} asset */
const statusOf = ({ Status }) => /** @type {Record<string, string>} */ (t.assets.statuses)[Status] ?? Status

/** @type {readonly (readonly [string, string])[]} */
const statuses = [
  ['', t.assets.anyStatus],
  ['Active', t.assets.statuses.Active],
  ['Processing', t.assets.statuses.Processing],
  ['Failed', t.assets.statuses.Failed],
]

/** @type {readonly (readonly [string, string])[]} */
const orders = [
  ['CreateTime Desc', t.order.newest],
  ['CreateTime Asc', t.order.oldest],
  ['UpdateTime Desc', t.order.changed],
]

/**
 * @param {List} list
 * @param {(open: Open) => void} setOpen
 */
const cards = ({ pages, busy, loadMore }, setOpen) =>
  pages &&
  html`
    <ul class="cards" aria-busy=${busy}>
      ${pages.items.map((asset) => html`<li key=${asset.Id}><${Card} asset=${asset} setOpen=${setOpen} /></li>`)}
    </ul>
    <${More} shown=${pages.items.length} total=${pages.total} next=${pages.next} busy=${busy} loadMore=${loadMore} />
  `

/** @param {{ asset: Asset, setOpen: (open: Open) => void }} props */
const Card = ({ asset, setOpen }) => {
  const title = titleOf(asset)
  const created = parseTime(asset.CreateTime)
  const address = httpUrl(asset.URL)
  return html`
    <article>
      <${Preview} asset=${asset} title=${title} />
      <div class="item-text">
        <h2 title=${title}>${address ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${title}</a>` : title}</h2>
        <p class="hint">
          <span class=${`badge ${asset.Status}`}>${statusOf(asset)}</span>
          <span>${/** @type {Record<string, string>} */ (t.assets.types)[asset.AssetType] ?? asset.AssetType}</span>
          ${created && html`<time datetime=${created.toISOString()}>${formatTime(created)}</time>`}
        </p>
        ${asset.Status === 'Failed' && html`<p class="failure-reason">${asset.Error?.Message || asset.Error?.Code || t.assets.processingFailed}</p>`}
      </div>
      <div class="actions">
        <${CopyButton} text=${`asset://${asset.Id}`} label=${t.assets.copyId} title=${t.assets.copyIdOf(title)} />
        <button type="button" class="small" aria-label=${t.renameOf(title)} onClick=${() => setOpen({ kind: 'rename', asset })}>${t.rename}</button>
        <button type="button" class="small danger" aria-label=${t.deleteOf(title)} onClick=${() => setOpen({ kind: 'delete', asset })}>${t.delete}</button>
      </div>
    </article>
  `
}

/**
 * @param {string} filter not empty when the list is filtered
 * @param {() => void} add
 */
const emptyList = (filter, add) =>
  filter
    ? html`<${Empty} icon="picture" title=${t.assets.emptyFiltered}><p>${t.exactNameOnly}</p><//>`
    : html`
        <${Empty} icon="picture" title=${t.assets.empty}>
          <p>${t.assets.emptyHint}</p>
          <button type="button" class="primary" onClick=${add}><${Icon} name="add" />${t.assets.addFirst}</button>
        <//>
      `
