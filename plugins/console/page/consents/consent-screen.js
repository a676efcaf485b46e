import { useState } from 'preact/hooks'
import { isUnknown } from '../api/api-error.js'
import { readGroup } from '../assets/group.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { download } from '../frame/download.js'
import { useAction, useApi, useLoaded, usePolling } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { consentPath, keysPath } from './consent.js'
import { ConsentDialogs } from './consent-dialogs.js'
import { ConsentFacts } from './consent-facts.js'
import { ConsentUses } from './consent-uses.js'
import { t } from './words.js'

/** @typedef {import('./consent.js').Consent} Consent */

/** While a deletion goes on, it is read this often. */
const pollMs = 5_000

/**
 * The consent of the person of a group, for its owner.
 * @param {{ id: string, user: string }} props `id`: of the group. `user`: id of the present user
 */
export const ConsentScreen = ({ id, user }) => {
  const api = useApi()
  const path = consentPath(id)
  const read = async (/** @type {AbortSignal} */ signal) =>
    /** @type {Consent} */ ((await api.requestWithToken(path, { signal })).Result)
  const loaded = useLoaded(
    async (signal) => {
      const consent = await read(signal)
      // The consent outlives the group.
      return { consent, group: await readGroup(api, id, signal).catch(() => undefined) }
    },
    [id],
  )
  const [open, setOpen] = useState(/** @type {import('./consent-dialogs.js').Open} */ (undefined))
  const exporting = useAction(async () => {
    const response = await api.sendWithToken(`${path}/export`)
    download(`consent-${id}.json`, await response.text(), 'application/json')
  })
  const { consent, group } = loaded.value ?? {}
  const show = (/** @type {Consent} */ next) => loaded.change((before) => ({ ...before, consent: next }))
  usePolling(async () => show(await read(AbortSignal.timeout(10 * pollMs))), {
    enabled: consent?.Status === 'deleting',
    ms: pollMs,
  })
  const name = group?.Name || id
  const isMissing = !consent && isUnknown(loaded.error)
  return html`
    <a class="back" href=${group ? linkTo('groups', group.GroupType, id) : linkTo('groups', 'LivenessFace')}><${Icon} name="back" />${group ? name : t.groups.type.LivenessFace}</a>
    <div class="heading"><h1 tabindex="-1">${isMissing ? t.consents.missing : t.consents.title(name)}</h1></div>
    ${
      isMissing
        ? html`<${Empty} icon="face" title=${t.consents.missing}><p>${t.consents.missingHint}</p><a class="button" href=${linkTo('groups', 'LivenessFace')}>${t.groups.toGroups}</a><//>`
        : html`<p class="lead">${t.consents.lead}</p><${Failure} message=${loaded.error} retry=${loaded.reload} />`
    }
    ${!consent && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      consent &&
      html`
        <${ConsentFacts} consent=${consent} user=${user} />
        <div class="actions list-actions">
          ${consent.Status === 'active' && html`<button type="button" class="danger" onClick=${() => setOpen('withdraw')}>${t.consents.withdraw}</button>`}
          ${!consent.Deletion && html`<button type="button" class="danger" onClick=${() => setOpen('delete')}>${t.consents.delete}</button>`}
          <button type="button" onClick=${() => setOpen('link')}>${t.consents.link}</button>
          <button type="button" aria-disabled=${exporting.busy} onClick=${() => exporting.run()}><${Icon} name="download" />${t.consents.export}</button>
        </div>
        <${Failure} message=${exporting.error} />
        <p class="hint status-line">${t.consents.exportHint} <a href=${keysPath} target="_blank" rel="noopener">${t.consents.keys}</a></p>
        <${ConsentUses} path=${path} user=${user} />
        <${ConsentDialogs} open=${open} path=${path} name=${name} onChange=${show} onClose=${() => setOpen(undefined)} />
      `
    }
  `
}
