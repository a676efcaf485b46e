import { useState } from 'preact/hooks'
import { ApiError } from '../../api/api-error.js'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { Empty, Failure, Loading } from '../../controls/placeholder.js'
import { showToast } from '../../controls/toast.js'
import { download } from '../../frame/download.js'
import { useAction, useApi, useLoaded, usePolling } from '../../frame/hooks.js'
import { formatNumber } from '../../words/format.js'
import { addressOf, pathWith, useAdminApi } from '../parts/admin-api.js'
import { ConfirmByName } from '../parts/confirm.js'
import { linkToAdmin } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { w } from '../words/words.js'
import { ConsentBadge, OwnerLink } from './consents.js'

/** @typedef {import('./consents.js').Consent} Consent */
/** @typedef {import('./consents.js').Act} Act */

/** While a deletion goes on, it is read this often. */
const pollMs = 5_000

/**
 * The consent of the person of one group.
 * @param {{ id: string }} props of the group
 */
export const ConsentPage = ({ id }) => {
  const api = useApi()
  const admin = useAdminApi()
  const path = pathWith`/consents/${id}`
  const read = async (/** @type {AbortSignal} */ signal) => {
    try {
      return { consent: /** @type {Consent} */ ((await admin.read(path, {}, signal)).consent) }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return { consent: undefined }
      throw error
    }
  }
  const loaded = useLoaded(read, [id])
  const [open, setOpen] = useState(/** @type {'withdraw' | 'delete' | undefined} */ (undefined))
  const close = () => setOpen(undefined)
  const consent = loaded.value?.consent
  usePolling(
    async () => {
      const next = await read(AbortSignal.timeout(10 * pollMs))
      loaded.change(() => next)
    },
    { enabled: consent?.status === 'deleting', ms: pollMs },
  )
  const act = async (/** @type {'withdraw' | 'delete'} */ action) => {
    const { consent } = await admin.send('POST', `${path}/${action}`)
    loaded.change(() => ({ consent }))
    showToast(action === 'withdraw' ? w.consents.withdrawnToast : w.consents.deletingToast)
  }
  const exporting = useAction(async () => {
    // The signature covers each character, so the answer is kept as it is.
    const text = await (await api.send(addressOf(`${path}/export`))).text()
    download(`consent-${id}.json`, text, 'application/json')
  })
  return html`
    <a class="back" href=${linkToAdmin(['consents'])}><${Icon} name="back" />${w.consents.toList}</a>
    <div class="heading"><h1 tabindex="-1">${loaded.value && !consent ? w.consents.unknown : id}</h1></div>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!loaded.value && loaded.busy && html`<${Loading} kind="rows" />`}
    ${loaded.value && !consent && html`<${Empty} icon="face" title=${w.consents.unknown}><p>${w.consents.unknownHint}</p><//>`}
    ${
      consent &&
      html`
        <p class="lead"><${ConsentBadge} status=${consent.status} /></p>
        <div class="actions list-actions">
          ${!consent.withdrawal && html`<button type="button" class="danger" onClick=${() => setOpen('withdraw')}>${w.consents.withdraw}</button>`}
          ${!consent.deletion && html`<button type="button" class="danger" onClick=${() => setOpen('delete')}>${w.consents.delete}</button>`}
          <button type="button" aria-disabled=${exporting.busy} onClick=${() => exporting.run()}><${Icon} name="download" />${w.consents.export}</button>
        </div>
        <${Failure} message=${exporting.error} />
        <p class="hint status-line">${w.consents.exportHint}</p>
        <${Facts} consent=${consent} />
      `
    }
    ${
      open === 'withdraw' &&
      html`<${ConfirmByName} title=${w.consents.withdrawTitle} submitLabel=${w.consents.withdraw} name=${id} action=${() => act('withdraw')} onClose=${close}><p>${w.consents.withdrawWarning}</p><//>`
    }
    ${
      open === 'delete' &&
      html`<${ConfirmByName} title=${w.consents.delete} submitLabel=${w.consents.delete} name=${id} action=${() => act('delete')} onClose=${close}><p>${w.consents.deleteWarning}</p><//>`
    }
  `
}

/** @param {{ consent: Consent }} props */
const Facts = ({ consent }) => {
  const { invitation, verified_at, used_at, withdrawal, deletion } = consent
  return html`
    <dl class="facts">
      <${Fact} name=${w.consents.owner}><${OwnerLink} consent=${consent} /><//>
      <${Fact} name=${w.consents.verified}><${Time} at=${verified_at} fallback=${w.consents.unknownTime} /><//>
      <${Fact} name=${w.consents.invited}><${Time} at=${invitation?.at} fallback=${w.consents.notInvited} /><//>
      ${invitation && html`<${Fact} name=${w.consents.invitedBy}><a href=${linkToAdmin(['users', invitation.user])}>${invitation.user === consent.owner ? (consent.owner_name ?? invitation.user) : invitation.user}</a><//>`}
      <${Fact} name=${w.consents.used}><${Time} at=${used_at} fallback=${w.consents.never} /><//>
      ${withdrawal && html`<${Fact} name=${w.consents.withdrawn}><${Time} at=${withdrawal.at} /> <${Actor} act=${withdrawal} /><//>`}
      ${
        deletion &&
        html`
          <${Fact} name=${w.consents.deletion}><${Time} at=${deletion.at} /> <${Actor} act=${deletion} /><//>
          <${Fact} name=${w.consents.uses}>${formatNumber(deletion.uses)}<//>
          <${Fact} name=${w.consents.results}>${formatNumber(deletion.results)}<//>
          <${Fact} name=${w.consents.assets}>${formatNumber(deletion.assets)}<//>
          <${Fact} name=${w.consents.groupGone}><${Time} at=${deletion.group_at} fallback=${w.consents.goesOn} /><//>
        `
      }
    </dl>
  `
}

/** @param {{ name: string, children?: unknown }} props */
const Fact = ({ name, children }) => html`<div><dt>${name}</dt><dd>${children}</dd></div>`

/** @param {{ act: Act }} props */
const Actor = ({ act: { by, user, link_from } }) => {
  const text = by === 'person' && link_from !== null ? w.consents.by.link : w.consents.by[by]
  return user === null ? text : html`${text} <a href=${linkToAdmin(['users', user])}><code>${user}</code></a>`
}
