import { html } from '../controls/html.js'
import { Assets } from './assets.js'
import { Groups } from './groups.js'

/**
 * The screens of the asset library: the groups of a type, and the assets of a group.
 * @param {{ parts: readonly string[], uploads: import('../uploads/uploads.js').Uploads }} props `parts`: the type, and
 * the id of a group
 */
export const AssetScreen = ({ parts: [type, id], uploads }) => {
  const known = type === 'LivenessFace' ? type : 'AIGC'
  return id
    ? html`<${Assets} key=${id} type=${known} id=${id} uploads=${uploads} />`
    : html`<${Groups} key=${known} type=${known} />`
}
