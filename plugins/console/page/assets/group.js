import { ApiError } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { FormDialog } from '../controls/dialog.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatNumber } from '../words/format.js'
import { t } from '../words/words.js'
import { UsesWarning } from './uses.js'

/** @typedef {import('./asset.js').GroupType} GroupType */
/**
 * @typedef {{ Id: string, Name: string, Description?: string, GroupType: GroupType, CreateTime: string, UpdateTime:
 * string, Access?: 'read' | 'use' }} Group `Access`: what a group that is lent to the user may be used for
 */
/** @typedef {import('../api/api.js').Api} Api */

export const groupsPath = `${paths.library}/assets/groups`

/** @param {string} id */
const pathOf = (id) => `${groupsPath}/${encodeURIComponent(id)}`

/**
 * @param {Api} api
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Group>}
 */
export const readGroup = async (api, id, signal) => (await api.requestWithToken(pathOf(id), { signal })).Result

/**
 * The newest groups of one type, at most 100.
 * @param {Api} api
 * @param {GroupType} type
 * @param {{ scope?: string, signal: AbortSignal }} options `scope`: `shared` for those that others lend
 * @returns {Promise<readonly Group[]>}
 */
export const listGroups = async (api, type, { scope, signal }) => {
  const query = new URLSearchParams({ GroupType: type, PageSize: '100', SortBy: 'CreateTime', SortOrder: 'Desc' })
  if (scope) query.set('scope', scope)
  return (await api.requestWithToken(`${groupsPath}?${query}`, { signal })).Result?.Items ?? []
}

/** @type {readonly (readonly [GroupType, string])[]} */
export const groupTypeChoices = [
  ['AIGC', t.groups.type.AIGC],
  ['LivenessFace', t.groups.type.LivenessFace],
]

/** The groups that lists and pickers choose among: own ones, and those that others lend. */
const sources = {
  AIGC: { type: /** @type {GroupType} */ ('AIGC'), scope: '' },
  LivenessFace: { type: /** @type {GroupType} */ ('LivenessFace'), scope: '' },
  lent: { type: /** @type {GroupType} */ ('AIGC'), scope: 'shared' },
  lentFaces: { type: /** @type {GroupType} */ ('LivenessFace'), scope: 'shared' },
}

/** @param {string} name of a source. An unknown one is that of own groups */
export const sourceNamed = (name) =>
  Object.hasOwn(sources, name) ? sources[/** @type {keyof typeof sources} */ (name)] : sources.AIGC

/** @type {readonly (readonly [keyof typeof sources, string])[]} */
export const sourceChoices = [
  ...groupTypeChoices,
  ...(paths.shares === undefined
    ? []
    : [/** @type {const} */ (['lent', t.groups.shared]), /** @type {const} */ (['lentFaces', t.groups.sharedFaces])]),
]

/** The lists of the library, in the order of their tabs. @type {readonly (readonly [string, string])[]} */
const lists = [
  ['AIGC', t.groups.type.AIGC],
  ['all', t.assets.all],
  ['LivenessFace', t.groups.type.LivenessFace],
  ...(paths.shares === undefined ? [] : [/** @type {const} */ (['shared', t.groups.shared])]),
  ...(paths.batches === undefined ? [] : [/** @type {const} */ (['batches', t.groups.batches])]),
]

/**
 * The lists of the library.
 * @param {{ current: GroupType | 'all' | 'shared' | 'batches' }} props
 */
export const GroupTabs = ({ current }) => html`
  <nav class="tabs" aria-label=${t.groups.types}>
    ${lists.map(
      ([list, label]) =>
        html`<a key=${list} href=${list === 'batches' ? linkTo(list) : linkTo('groups', list)} aria-current=${list === current ? 'true' : undefined}>${label}</a>`,
    )}
  </nav>
`

/**
 * Deletes a group, when the user has typed its name: its assets go with it.
 * @param {{ group: Group, onDone: () => void, onClose: () => void }} props
 */
export const DeleteGroup = ({ group: { Id, Name, GroupType }, onDone, onClose }) => {
  const api = useApi()
  const name = Name.trim() || Id
  const count = useLoaded(
    async (signal) => {
      const query = new URLSearchParams({ GroupType, GroupIds: Id, PageSize: '1' })
      /** @type {number} */
      const total = (await api.requestWithToken(`${paths.library}/assets?${query}`, { signal })).Result?.TotalCount ?? 0
      return total
    },
    [Id],
  )
  const remove = async (/** @type {Record<string, string>} */ { typed }) => {
    if (typed !== name) throw new ApiError(0, t.groups.otherName)
    await api.requestWithToken(pathOf(Id), { method: 'DELETE' })
    showToast(t.groups.deleted(name))
    onDone()
  }
  return html`
    <${FormDialog} danger title=${t.groups.delete} submitLabel=${t.groups.delete} action=${remove} onClose=${onClose}>
      <p role="status">${count.value === undefined ? (count.busy ? t.groups.counting : t.groups.deleteWarning(name)) : t.groups.deleteCount(name, count.value, formatNumber(count.value))}</p>
      <${UsesWarning} path=${pathOf(Id)} />
      <${Field} label=${t.groups.typeName(name)} name="typed" autocomplete="off" spellcheck=${false} required />
    <//>
  `
}

/**
 * The form fields of a group. The maximum lengths are those of the API.
 * @param {{ group?: Group }} props
 */
export const GroupFields = ({ group }) => html`
  <${Field} label=${t.groups.name} name="Name" defaultValue=${group?.Name ?? ''} maxlength="64" required autocomplete="off" />
  <${Field}
    multiline
    label=${t.groups.description}
    hint=${t.optional}
    name="Description"
    defaultValue=${group?.Description ?? ''}
    maxlength="300"
  />
`

/**
 * @param {{ group: Group, onDone: (group: Group) => void, onClose: () => void }} props
 */
export const EditGroup = ({ group, onDone, onClose }) => {
  const api = useApi()
  const submit = async (/** @type {Record<string, string>} */ { Name = '', Description = '' }) => {
    // Only changed fields are sent: an upstream may not support all of them.
    const body = {
      ...(Name !== group.Name && { Name }),
      ...(Description !== (group.Description ?? '') && { Description }),
    }
    if (Object.keys(body).length > 0) await api.requestWithToken(pathOf(group.Id), { method: 'PATCH', body })
    onDone({ ...group, Name, Description })
    showToast(t.saved)
  }
  return html`
    <${FormDialog} title=${t.groups.edit} submitLabel=${t.save} action=${submit} onClose=${onClose}><${GroupFields} group=${group} /><//>
  `
}
