import { html } from '../controls/html.js'
import { BatchDetail } from './batch-detail.js'
import { BatchList } from './batch-list.js'
import { NewBatch } from './new-batch.js'

/**
 * The screens of batches: the list, one of them, and a new one, perhaps for a group.
 * @param {{ parts: readonly string[], uploads: import('../uploads/uploads.js').Uploads }} props `parts`: the id of a batch,
 * or `new` with the type and the id of a group
 */
export const BatchScreen = ({ parts: [id, type, group], uploads }) => {
  if (id === undefined) return html`<${BatchList} />`
  if (id !== 'new') return html`<${BatchDetail} key=${id} id=${id} />`
  return html`<${NewBatch} type=${type ?? 'AIGC'} group=${group} uploads=${uploads} />`
}
