import { useEffect, useState } from 'preact/hooks'
import { isUnknown } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { FormDialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { useAddress } from '../lists/address.js'
import { useLongList } from '../lists/long-list.js'
import { orders, SearchFilters, setFrom, sortOf } from '../lists/search-field.js'
import { useDroppedFiles } from '../uploads/dropped-files.js'
import { FilePicker, UploadList } from '../uploads/upload-list.js'
import { formatNumber } from '../words/format.js'
import { t } from '../words/words.js'
import {
  AddAsset,
  assetsPath,
  deleteAsset,
  pathOf,
  RenameAsset,
  readAsset,
  statusChoices,
  statusOf,
  titleOf,
  typeChoices,
} from './asset.js'
import { AssetGrid, AssetTable } from './asset-list.js'
import { useAssetWatch } from './asset-watch.js'
import { DeleteGroup, EditGroup, GroupTabs, listGroups, readGroup, sourceChoices, sourceNamed } from './group.js'
import { SelectionBar, useSelection } from './selection.js'
import { UsesWarning } from './uses.js'

/** @typedef {import('./asset.js').Asset} Asset */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {ReturnType<typeof useLongList<Asset>>} List */
/** @typedef {import('../uploads/uploads.js').Uploads} Uploads */

/** The filters of a list of assets, which are in its address. */
const noFilters = { q: '', status: '', type: '', order: 'CreateTime Desc', view: 'grid' }

/**
 * A group, and the assets in it.
 * @param {{ type: GroupType, id: string, uploads: Uploads }} props
 */
export const GroupAssets = ({ type, id, uploads }) => {
  const api = useApi()
  const group = useLoaded((signal) => readGroup(api, id, signal), [id])
  const [filters, setFilters] = useAddress(noFilters)
  const [open, setOpen] = useState(/** @type {'add' | 'edit' | 'delete' | undefined} */ (undefined))
  /** @type {List} */
  const list = useLongList(assetsPath, {
    ...{ GroupType: type, GroupIds: id, ...parametersOf(filters) },
    // Whether it is lent is not known yet.
    scope: paths.shares ? 'all' : '',
  })
  const close = () => setOpen(undefined)
  const title = group.value?.Name || id
  const access = group.value?.Access
  const back = access
    ? { href: linkTo('groups', 'shared'), label: t.groups.shared }
    : { href: linkTo('groups', type), label: t.groups.type[type] }
  const addFiles =
    paths.uploads && !access ? (/** @type {readonly File[]} */ files) => uploads.add(files, { id, type }) : undefined
  const dragging = useDroppedFiles(addFiles)
  useEffect(() => uploads.listen((asset) => asset.GroupId === id && list.upsert(asset)), [id])

  if (!group.value && isUnknown(group.error)) {
    return html`
      <a class="back" href=${linkTo('groups', type)}><${Icon} name="back" />${t.groups.type[type]}</a>
      <div class="heading"><h1 tabindex="-1">${t.groups.missing}</h1></div>
      <${Empty} icon="groups" title=${t.groups.missing}>
        <p>${t.groups.missingHint}</p>
        <p class="hint"><code>${id}</code></p>
        <a class="button" href=${linkTo('groups', type)}>${t.groups.toGroups}</a>
      <//>
    `
  }
  return html`
    <a class="back" href=${back.href}><${Icon} name="back" />${back.label}</a>
    <div class="heading">
      <h1 tabindex="-1">${group.busy && !group.value ? t.loading : title}</h1>
      <div class="actions">
        ${
          group.value &&
          !access &&
          html`
            <button type="button" onClick=${() => setOpen('edit')}>${t.edit}</button>
            ${paths.shares && html`<a class="button" href=${linkTo('shares', id)}>${t.groups.lend}</a>`}
            ${paths.consents && group.value.GroupType === 'LivenessFace' && html`<a class="button" href=${linkTo('consents', id)}>${t.groups.consent}</a>`}
            <button type="button" class="danger" onClick=${() => setOpen('delete')}>${t.delete}</button>
          `
        }
        ${!access && html`<button type="button" class=${addFiles ? '' : 'primary'} onClick=${() => setOpen('add')}><${Icon} name="add" />${t.assets.add}</button>`}
        ${addFiles && html`<${FilePicker} label=${t.uploads.choose} onFiles=${addFiles} />`}
      </div>
    </div>
    ${group.value?.Description && html`<p class="lead">${group.value.Description}</p>`}
    <p class="hint"><code>${id}</code></p>
    <p class=${addFiles ? 'hint drop-hint' : 'hint'}>${access ? t.groups.lentHint[access] : addFiles ? t.uploads.dropHint : t.uploads.notOffered}</p>
    <${Failure} message=${group.error} retry=${group.reload} />
    <${UploadList} uploads=${uploads} group=${id} onAdded=${list.reload} />
    ${dragging && html`<div class="drop-target"><p><${Icon} name="upload" />${t.uploads.drop(title)}</p></div>`}
    <${Filters} filters=${filters} setFilters=${setFilters} />
    <${AssetList} list=${list} filters=${filters} setFilters=${setFilters} uploads=${uploads} isLent=${access !== undefined} hasError=${group.error !== undefined}
      empty=${
        access
          ? html`<${Empty} icon="picture" title=${t.assets.empty}><p>${t.assets.emptyLent}</p><//>`
          : html`
              <${Empty} icon="picture" title=${t.assets.empty}>
                <p>${t.assets.emptyHint}</p>
                <button type="button" class="primary" onClick=${() => setOpen('add')}><${Icon} name="add" />${t.assets.addFirst}</button>
              <//>
            `
      } />
    ${open === 'add' && html`<${AddAsset} group=${id} type=${type} onDone=${list.upsert} onClose=${close} />`}
    ${
      open === 'edit' &&
      group.value &&
      html`<${EditGroup} group=${group.value} onDone=${(/** @type {any} */ changed) => group.change(() => changed)} onClose=${close} />`
    }
    ${
      open === 'delete' &&
      group.value &&
      html`<${DeleteGroup} group=${group.value} onDone=${() => navigate('groups', type)} onClose=${close} />`
    }
  `
}

/**
 * The assets of all groups.
 * @param {{ uploads: Uploads }} props
 */
export const AllAssets = ({ uploads }) => {
  const api = useApi()
  const [filters, setFilters] = useAddress({ ...noFilters, of: 'AIGC', group: '' })
  const { type, scope } = sourceNamed(filters.of)
  const groups = useLoaded((signal) => listGroups(api, type, { scope, signal }), [type, scope])
  const names = new Map((groups.value ?? []).map(({ Id, Name }) => [Id, Name || Id]))
  /** @type {List} */
  const list = useLongList(assetsPath, { GroupType: type, GroupIds: filters.group, ...parametersOf(filters), scope })
  const choices = [['', t.assets.anyGroup], ...names]
  if (filters.group && !names.has(filters.group)) choices.push([filters.group, filters.group])
  return html`
    <div class="heading"><h1 tabindex="-1">${t.assets.all}</h1></div>
    <p class="lead">${t.assets.allLead}</p>
    <${GroupTabs} current="all" />
    <${Filters} filters=${filters} setFilters=${setFilters}>
      <${Select} label=${t.groups.types} value=${filters.of} choices=${sourceChoices} onChange=${setFrom((of) => setFilters({ of, group: '' }))} />
      <${Select} label=${t.assets.group} value=${filters.group} choices=${choices} onChange=${setFrom((group) => setFilters({ group }))} />
    <//>
    <${AssetList} list=${list} filters=${filters} setFilters=${setFilters} uploads=${uploads} groups=${names} isLent=${scope !== ''}
      empty=${html`
        <${Empty} icon="picture" title=${t.assets.empty}>
          <p>${t.groups.emptyHint.AIGC}</p>
          <a class="button primary" href=${linkTo('groups', 'AIGC')}>${t.groups.type.AIGC}</a>
        <//>
      `} />
  `
}

/** @typedef {typeof noFilters & { group?: string }} FilterValues */
/** @typedef {(changes: Partial<FilterValues>) => void} SetFilters */

/** @param {FilterValues} filters */
const parametersOf = ({ q, status, type, order }) => ({
  ...{ NameContains: q, Statuses: status, AssetTypes: type },
  ...sortOf(order),
})

/** @param {{ filters: FilterValues, setFilters: SetFilters, children?: unknown }} props */
const Filters = ({ filters, setFilters, children }) => html`
  <${SearchFilters} text=${filters.q} onChange=${(/** @type {string} */ q) => setFilters({ q })}>
    ${children}
    <${Select} label=${t.assets.status} value=${filters.status} choices=${statusChoices} onChange=${setFrom((status) => setFilters({ status }))} />
    <${Select} label=${t.assets.kind} value=${filters.type} choices=${typeChoices} onChange=${setFrom((type) => setFilters({ type }))} />
    <${Select} label=${t.sort} value=${filters.order} choices=${orders} onChange=${setFrom((order) => setFilters({ order }))} />
  <//>
`

/**
 * @param {{ list: List, filters: FilterValues, setFilters: SetFilters, uploads: Uploads, groups?: ReadonlyMap<string,
 * string>, isLent?: boolean, hasError?: boolean, empty: unknown }} props `isLent`: the user cannot change the assets
 */
const AssetList = ({ list, filters, setFilters, uploads, groups, isLent = false, hasError = false, empty }) => {
  const api = useApi()
  const selection = useSelection(list.items)
  const [task, setTask] = useState(/** @type {import('./asset-list.js').Task | undefined} */ (undefined))
  const close = () => setTask(undefined)
  useStatusWatch(list, uploads)
  const isFiltered = [filters.q, filters.status, filters.type, filters.group].some((value) => value)
  const View = filters.view === 'table' ? AssetTable : AssetGrid
  const clear = () => setFilters({ q: '', status: '', type: '', ...(filters.group !== undefined && { group: '' }) })
  return html`
    ${!hasError && html`<${Failure} message=${list.error} retry=${list.reload} />`}
    ${list.total === undefined && list.busy && html`<${Loading} kind="cards" count=${6} />`}
    ${
      list.total !== undefined &&
      (list.total > 0 || isFiltered) &&
      html`
        <div class="list-head">
          <p role="status">${t.assets.count(list.total, formatNumber(list.total))}</p>
          ${isFiltered && html`<button type="button" class="small plain" onClick=${clear}>${t.clearFilters}</button>`}
          <div class="switch" role="group" aria-label=${t.assets.view}>
            ${Object.entries(t.assets.views).map(
              ([view, label]) =>
                html`<button key=${view} type="button" class="small" aria-pressed=${view === filters.view} onClick=${() => setFilters({ view })}>${label}</button>`,
            )}
          </div>
        </div>
      `
    }
    ${
      list.total !== undefined &&
      (list.total > 0
        ? html`<${View} list=${list} selection=${selection} groups=${groups} onTask=${isLent ? undefined : setTask} />`
        : isFiltered
          ? html`<${Empty} icon="picture" title=${t.assets.emptyFiltered}><p>${t.assets.emptyFilteredHint}</p><//>`
          : empty)
    }
    <${SelectionBar} selection=${selection} onDeleted=${isLent ? undefined : list.remove} />
    ${task?.kind === 'rename' && html`<${RenameAsset} asset=${task.asset} onDone=${list.upsert} onClose=${close} />`}
    ${
      task?.kind === 'delete' &&
      html`<${FormDialog} danger title=${t.assets.delete} submitLabel=${t.assets.delete} onClose=${close}
        action=${async () => {
          await deleteAsset(api, task.asset)
          selection.drop([task.asset.Id])
          list.remove([task.asset.Id])
        }}><p>${t.assets.deleteWarning(titleOf(task.asset))}</p><${UsesWarning} path=${pathOf(task.asset.Id)} /><//>`
    }
  `
}

/**
 * Watches the assets with status Processing, and updates the list. Those of uploads are watched there.
 * @param {List} list
 * @param {Uploads} uploads
 */
const useStatusWatch = (list, uploads) => {
  const api = useApi()
  const uploaded = new Set(uploads.items.map(({ asset }) => asset?.Id))
  /** @type {Asset[]} */
  const processing = []
  // Skips what is not loaded.
  list.items.forEach((asset) => {
    if (asset?.Status === 'Processing' && !uploaded.has(asset.Id)) processing.push(asset)
  })
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
      if (isUnknown(error)) list.remove([id])
      else throw error
    }
  }
  useAssetWatch(
    processing.map(({ Id }) => Id),
    read,
  )
}
