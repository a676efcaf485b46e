import { useState } from 'preact/hooks'
import { FormDialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { useAddress } from '../lists/address.js'
import { useLongList } from '../lists/long-list.js'
import { orders, SearchFilters, setFrom, sortOf } from '../lists/search-field.js'
import { useShown, useVisibleRows } from '../lists/visible-rows.js'
import { formatNumber, formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { rangeOf } from './asset-list.js'
import { DeleteGroup, EditGroup, GroupFields, GroupTabs, groupsPath } from './group.js'

/** @typedef {import('./group.js').Group} Group */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {{ kind: 'create' } | { kind: 'edit' | 'delete', group: Group }} Open */
/** @typedef {ReturnType<typeof useLongList<Group>>} List */

/**
 * The caller's groups of one type, or those that others lend.
 * @param {{ type: GroupType | 'shared' }} props
 */
export const Groups = ({ type }) => {
  const api = useApi()
  const isShared = type === 'shared'
  const [{ q, order, of }, setFilters] = useAddress({ q: '', order: 'CreateTime Desc', of: 'AIGC' })
  const [open, setOpen] = useState(/** @type {Open | undefined} */ (undefined))
  /** @type {List} */
  const list = useLongList(groupsPath, {
    ...{ GroupType: isShared ? of : type, NameContains: q, ...sortOf(order) },
    scope: isShared ? type : '',
  })
  const close = () => setOpen(undefined)

  const create = async (/** @type {Record<string, string>} */ { Name = '', Description }) => {
    const body = { Name, ...(Description && { Description }), GroupType: 'AIGC' }
    const { Result } = await api.requestWithToken(groupsPath, { method: 'POST', body })
    showToast(t.groups.created(Name))
    navigate('groups', 'AIGC', String(Result.Id))
  }

  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.groups.title}</h1>
      ${
        type === 'AIGC' &&
        html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'create' })}><${Icon} name="add" />${t.groups.create}</button>`
      }
      ${type === 'LivenessFace' && html`<a class="button primary" href=${linkTo('face')}><${Icon} name="face" />${t.groups.verify}</a>`}
    </div>
    <p class="lead">${isShared ? t.groups.sharedLead : t.groups.lead[type]}</p>
    <${GroupTabs} current=${type} />
    <${SearchFilters} text=${q} onChange=${(/** @type {string} */ q) => setFilters({ q })}>
      ${isShared && html`<${Select} label=${t.groups.types} value=${of} choices=${Object.entries(t.groups.kinds)} onChange=${setFrom((of) => setFilters({ of }))} />`}
      <${Select} label=${t.sort} value=${order} choices=${orders} onChange=${setFrom((order) => setFilters({ order }))} />
    <//>
    <${Failure} message=${list.error} retry=${list.reload} />
    ${list.total === undefined && list.busy && html`<${Loading} kind="rows" />`}
    ${
      list.total !== undefined &&
      (list.total > 0
        ? html`
            <p class="list-head" role="status">${t.groups.count(list.total, formatNumber(list.total))}</p>
            <${Rows} list=${list} setOpen=${setOpen} />
          `
        : emptyList(type, q, setOpen))
    }
    ${
      open?.kind === 'create' &&
      html`<${FormDialog} title=${t.groups.create} submitLabel=${t.groups.create} action=${create} onClose=${close}><${GroupFields} /><//>`
    }
    ${open?.kind === 'edit' && html`<${EditGroup} group=${open.group} onDone=${list.upsert} onClose=${close} />`}
    ${open?.kind === 'delete' && html`<${DeleteGroup} group=${open.group} onDone=${() => list.remove([open.group.Id])} onClose=${close} />`}
  `
}

/** @param {{ list: List, setOpen: (open: Open) => void }} props */
const Rows = ({ list, setOpen }) => {
  const count = list.total ?? 0
  const rows = useVisibleRows({ count, rowHeight: 77 })
  useShown(rows, list.show)
  return html`
    <div class="long-list" ref=${rows.box} style=${{ height: `${rows.height}px` }}>
      <ul class="rows groups" aria-busy=${list.busy} style=${{ marginTop: `${rows.above}px` }}>
        ${rangeOf(rows).map((at) => {
          const group = list.items[at]
          return html`
            <li key=${group?.Id ?? at} data-item aria-setsize=${count} aria-posinset=${at + 1}>
              ${group ? html`<${Row} group=${group} setOpen=${setOpen} />` : html`<div class="skeleton" role="presentation"></div>`}
            </li>
          `
        })}
      </ul>
    </div>
  `
}

/** @param {{ group: Group, setOpen: (open: Open) => void }} props */
const Row = ({ group, setOpen }) => {
  const created = parseTime(group.CreateTime)
  const name = group.Name || group.Id
  return html`
    <div class="item-text">
      <h2 title=${name}><a href=${linkTo('groups', group.GroupType, group.Id)}>${name}</a></h2>
      <p class="hint">
        ${group.Access && html`<span class="badge">${t.groups.lentAccess[group.Access]}</span>`}
        ${group.Description && html`<span class="one-line" title=${group.Description}>${group.Description}</span>`}
        ${created && html`<span>${t.createdAt} <time datetime=${created.toISOString()}>${formatTime(created)}</time></span>`}
      </p>
    </div>
    ${
      !group.Access &&
      html`
        <div class="actions">
          <button type="button" class="small" aria-label=${t.editOf(name)} onClick=${() => setOpen({ kind: 'edit', group })}>${t.edit}</button>
          <button type="button" class="small danger" aria-label=${t.deleteOf(name)} onClick=${() => setOpen({ kind: 'delete', group })}>${t.delete}</button>
        </div>
      `
    }
  `
}

/**
 * @param {GroupType | 'shared'} type
 * @param {string} name
 * @param {(open: Open) => void} setOpen
 */
const emptyList = (type, name, setOpen) => {
  if (name) return html`<${Empty} icon="groups" title=${t.groups.emptyFiltered(name)} />`
  if (type === 'AIGC') {
    return html`
      <${Empty} icon="groups" title=${t.groups.empty.AIGC}>
        <p>${t.groups.emptyHint.AIGC}</p>
        <button type="button" class="primary" onClick=${() => setOpen({ kind: 'create' })}><${Icon} name="add" />${t.groups.createFirst}</button>
      <//>
    `
  }
  if (type === 'shared')
    return html`<${Empty} icon="groups" title=${t.groups.empty.shared}><p>${t.groups.emptyHint.shared}</p><a class="button" href=${linkTo('account')}>${t.nav.account}</a><//>`
  return html`
    <${Empty} icon="face" title=${t.groups.empty.LivenessFace}>
      <p>${t.groups.emptyHint.LivenessFace}</p>
      <a class="button primary" href=${linkTo('face')}>${t.groups.verify}</a>
    <//>
  `
}
