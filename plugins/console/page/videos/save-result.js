import { useRef } from 'preact/hooks'
import { createIdempotencyKeys } from '../api/idempotency-keys.js'
import { assetsPath } from '../assets/asset.js'
import { listGroups } from '../assets/group.js'
import { FormDialog } from '../controls/dialog.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Failure } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { t } from '../words/words.js'

/** @typedef {import('../assets/group.js').Group} Group */

/**
 * Adds a result to one of the user's groups: the asset library downloads it from its link.
 * @param {{ input: import('./video-request.js').Input, onClose: () => void }} props
 */
export const SaveResult = ({ input, onClose }) => {
  const api = useApi()
  const keys = useRef(createIdempotencyKeys()).current
  const groups = useLoaded(async (signal) => {
    const [own, faces] = await Promise.all([
      listGroups(api, 'AIGC', { signal }),
      listGroups(api, 'LivenessFace', { signal }),
    ])
    return [...own, ...faces]
  }, [])
  const save = async (/** @type {Record<string, string>} */ { group: id, Name }) => {
    const group = (groups.value ?? []).find(({ Id }) => Id === id)
    if (!group) return
    const body = {
      ...{ GroupId: group.Id, GroupType: group.GroupType, URL: input.url, AssetType: input.type },
      ...(Name && { Name }),
    }
    await api.requestWithToken(assetsPath, { method: 'POST', body, idempotencyKey: keys.keyOf(body) })
    showToast(t.videos.savedIn(group.Name))
  }
  const title = input.type === 'Video' ? t.videos.saveVideo : t.videos.saveFrame
  const choices = (groups.value ?? []).map(({ Id, Name }) => [Id, Name || Id])
  return html`
    <${FormDialog} title=${title} submitLabel=${t.save} action=${save} onClose=${onClose}>
      <${Failure} message=${groups.error} retry=${groups.reload} />
      <${Select} label=${t.videos.group} name="group" required choices=${choices.length > 0 ? choices : [['', groups.busy ? t.loading : t.groups.empty.AIGC]]} />
      ${groups.value?.length === 0 && html`<p><a href=${linkTo('groups', 'AIGC')}>${t.groups.createFirst}</a></p>`}
      <${Field} label=${t.assets.name} hint=${t.optional} name="Name" defaultValue=${[...input.title].slice(0, 64).join('')} maxlength="64" autocomplete="off" />
    <//>
  `
}
