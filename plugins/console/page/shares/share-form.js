import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { serverNow } from '../api/clock.js'
import { createIdempotencyKeys } from '../api/idempotency-keys.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Failure } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction, useApi } from '../frame/hooks.js'
import { setFrom } from '../lists/search-field.js'
import { dayOf, endOf, lastDayOf, sharesPath } from './share.js'
import { t } from './words.js'

/**
 * Lends a group, or changes what a borrower may do: lending to the same one again replaces the share.
 * @param {{ group: string, team: string | null, share?: import('./share.js').Share | undefined, onDone: () => void }} props
 * `team`: that of the user. `share`: the one to change
 */
export const ShareForm = ({ group, team, share, onDone }) => {
  const api = useApi()
  const keys = useRef(createIdempotencyKeys()).current
  const [access, setAccess] = useState(share?.Access ?? 'read')
  const [to, setTo] = useState(share?.Team === undefined ? 'person' : 'team')
  const { run, busy, error } = useAction(async (/** @type {HTMLFormElement} */ form) => {
    const fields = new FormData(form)
    const day = String(fields.get('until') ?? '')
    const body = {
      ...(to === 'team' ? { Team: share?.Team ?? team } : { User: share?.User ?? String(fields.get('person')).trim() }),
      Access: access,
      ...(day && { ExpireTime: endOf(day) }),
    }
    await api
      .requestWithToken(sharesPath(group), { method: 'POST', body, idempotencyKey: keys.keyOf(body) })
      .catch((caught) => {
        throw inWords(caught)
      })
    keys.succeeded()
    form.reset()
    setAccess('read')
    showToast(t.shares.lent)
    onDone()
  })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    void run(/** @type {HTMLFormElement} */ (event.currentTarget))
  }
  /** @type {readonly (readonly [string, string])[]} */
  const choices = [
    ['person', t.shares.person],
    ...(team === null ? [] : [/** @type {const} */ (['team', t.shares.team(team)])]),
  ]
  return html`
    <form class="panel" onSubmit=${submit} aria-busy=${busy}>
      ${
        !share &&
        choices.length > 1 &&
        html`<${Select} label=${t.shares.to} value=${to} choices=${choices} onChange=${(/** @type {Event} */ event) => setTo(/** @type {HTMLSelectElement} */ (event.currentTarget).value)} />`
      }
      ${!share && to === 'person' && html`<${Field} label=${t.shares.personId} hint=${t.shares.personIdHint} name="person" maxlength="1024" autocomplete="off" spellcheck=${false} required />`}
      <${Select} label=${t.shares.access} value=${access} choices=${Object.entries(t.groups.access)} onChange=${setFrom((chosen) => setAccess(/** @type {import('./share.js').Share['Access']} */ (chosen)))} />
      <${Field} label=${t.shares.until} hint=${t.shares.untilHint} name="until" type="date" min=${dayOf(new Date(serverNow()))} defaultValue=${share && lastDayOf(share)} />
      <div class="whole">
        <${Failure} message=${error} />
        <div class="actions"><button type="submit" class="primary" aria-disabled=${busy}>${busy ? t.working : share ? t.shares.change : t.shares.lend}</button></div>
      </div>
    </form>
  `
}

/** @param {unknown} error */
const inWords = (error) => {
  if (!(error instanceof ApiError)) return error
  if (error.status === 404) return new ApiError(404, t.shares.noBorrower)
  // A rate limit says when to try again; the maximum of shares does not.
  return error.status === 429 && error.retryAfter === undefined ? new ApiError(400, t.shares.full) : error
}
