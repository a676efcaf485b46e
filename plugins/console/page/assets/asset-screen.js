import { html } from '../controls/html.js'
import { AllAssets, GroupAssets } from './assets.js'
import { Groups } from './groups.js'

/**
 * The screens of the asset library: the groups of a type, those that others lend, the assets of a group, and all assets.
 * @param {{ parts: readonly string[], uploads: import('../uploads/uploads.js').Uploads }} props `parts`: the type, `all`
 * or `shared`, and the id of a group
 */
export const AssetScreen = ({ parts: [type, id], uploads }) => {
  if (type === 'all') return html`<${AllAssets} uploads=${uploads} />`
  if (type === 'shared') return html`<${Groups} key=${type} type=${type} />`
  const known = type === 'LivenessFace' ? type : 'AIGC'
  return id
    ? html`<${GroupAssets} key=${id} type=${known} id=${id} uploads=${uploads} />`
    : html`<${Groups} key=${known} type=${known} />`
}
