import { useState } from 'preact/hooks'
import { FormDialog } from '../controls/dialog.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading, More } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { usePages } from '../frame/pages.js'
import { linkTo, navigate } from '../frame/route.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { deleteGroup, EditGroup, GroupFields, groupsPath } from './group.js'

/** @typedef {import('./group.js').Group} Group */
/** @typedef {import('./group.js').GroupType} GroupType */
/** @typedef {{ kind: 'create' } | { kind: 'edit' | 'delete', group: Group }} Open */

/**
 * The caller's groups of one type.
 * @param {{ type: GroupType }} props
 */
export const Groups = ({ type }) => {
  const api = useApi()
  const [name, setName] = useState('')
  const [order, setOrder] = useState('CreateTime Desc')
  const [open, setOpen] = useState(/** @type {Open | undefined} */ (undefined))
  const [SortBy = '', SortOrder = ''] = order.split(' ')
  /** @type {ReturnType<typeof usePages<Group>>} */
  const list = usePages(groupsPath, { GroupType: type, Name: name, SortBy, SortOrder })
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
    <p class="lead">${t.groups.lead[type]}</p>
    <nav class="tabs" aria-label=${t.groups.types}>
      <a href=${linkTo('groups', 'AIGC')} aria-current=${type === 'AIGC' ? 'true' : undefined}>${t.groups.type.AIGC}</a>
      <a href=${linkTo('groups', 'LivenessFace')} aria-current=${type === 'LivenessFace' ? 'true' : undefined}>${t.groups.type.LivenessFace}</a>
    </nav>
    <${NameFilter} name=${name} onChange=${setName}>
      <${Select} label=${t.sort} value=${order} choices=${orders} onChange=${setOrderFrom(setOrder)} />
    <//>
    <${Failure} message=${list.error} retry=${list.reload} />
    ${!list.pages && list.busy && html`<${Loading} kind="rows" />`}
    ${list.pages && (list.pages.items.length > 0 ? rows(list, setOpen) : emptyList(type, name, setOpen))}
    ${
      open?.kind === 'create' &&
      html`<${FormDialog} title=${t.groups.create} submitLabel=${t.groups.create} action=${create} onClose=${close}><${GroupFields} /><//>`
    }
    ${open?.kind === 'edit' && html`<${EditGroup} group=${open.group} onDone=${list.upsert} onClose=${close} />`}
    ${
      open?.kind === 'delete' &&
      html`<${FormDialog} danger title=${t.groups.delete} submitLabel=${t.groups.delete} onClose=${close}
        action=${async () => {
          await deleteGroup(api, open.group)
          list.remove(open.group.Id)
        }}><p>${t.groups.deleteWarning(open.group.Name)}</p><//>`
    }
  `
}

/** @type {readonly (readonly [string, string])[]} */
const orders = [
  ['CreateTime Desc', t.order.newest],
  ['CreateTime Asc', t.order.oldest],
  ['UpdateTime Desc', t.order.changed],
]

/** @param {(value: string) => void} set */
export const setOrderFrom = (set) => (/** @type {Event} */ event) =>
  set(/** @type {HTMLSelectElement} */ (event.currentTarget).value)

/**
 * The filter form of a list. It filters by the exact name, as the API does. `children` are further filters.
 * @param {{ name: string, onChange: (name: string) => void, children?: unknown }} props
 */
export const NameFilter = ({ name, onChange, children }) => {
  const [typed, setTyped] = useState(name)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    onChange(typed.trim())
  }
  const clear = () => {
    setTyped('')
    onChange('')
  }
  return html`
    <form class="filters" role="search" onSubmit=${submit}>
      <${Field}
        label=${t.name}
        placeholder=${t.exactName}
        maxlength="64"
        value=${typed}
        onInput=${(/** @type {Event} */ event) => setTyped(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
      />
      <button type="submit">${t.filter}</button>
      ${name && html`<button type="button" class="plain" onClick=${clear}>${t.clear}</button>`}
      ${children}
    </form>
  `
}

/**
 * @param {ReturnType<typeof usePages<Group>>} list
 * @param {(open: Open) => void} setOpen
 */
const rows = ({ pages, busy, loadMore }, setOpen) =>
  pages &&
  html`
    <ul class="rows" aria-busy=${busy}>
      ${pages.items.map((group) => {
        const created = parseTime(group.CreateTime)
        return html`
          <li key=${group.Id}>
            <div class="item-text">
              <h2><a href=${linkTo('groups', group.GroupType, group.Id)}>${group.Name || group.Id}</a></h2>
              ${group.Description && html`<p>${group.Description}</p>`}
              <p class="hint">
                <code>${group.Id}</code>
                ${created && html`<span>${t.createdAt} <time datetime=${created.toISOString()}>${formatTime(created)}</time></span>`}
              </p>
            </div>
            <div class="actions">
              <button type="button" class="small" aria-label=${t.editOf(group.Name)} onClick=${() => setOpen({ kind: 'edit', group })}>${t.edit}</button>
              <button type="button" class="small danger" aria-label=${t.deleteOf(group.Name)} onClick=${() => setOpen({ kind: 'delete', group })}>${t.delete}</button>
            </div>
          </li>
        `
      })}
    </ul>
    <${More} shown=${pages.items.length} total=${pages.total} next=${pages.next} busy=${busy} loadMore=${loadMore} />
  `

/**
 * @param {GroupType} type
 * @param {string} name
 * @param {(open: Open) => void} setOpen
 */
const emptyList = (type, name, setOpen) => {
  if (name) return html`<${Empty} icon="groups" title=${t.groups.emptyFiltered(name)}><p>${t.exactNameOnly}</p><//>`
  if (type === 'AIGC') {
    return html`
      <${Empty} icon="groups" title=${t.groups.empty.AIGC}>
        <p>${t.groups.emptyHint.AIGC}</p>
        <button type="button" class="primary" onClick=${() => setOpen({ kind: 'create' })}><${Icon} name="add" />${t.groups.createFirst}</button>
      <//>
    `
  }
  return html`
    <${Empty} icon="face" title=${t.groups.empty.LivenessFace}>
      <p>${t.groups.emptyHint.LivenessFace}</p>
      <a class="button primary" href=${linkTo('face')}>${t.groups.verify}</a>
    <//>
  `
}
