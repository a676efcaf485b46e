import { useState } from 'preact/hooks'
import { serverNow } from '../api/clock.js'
import { isConsoleToken } from '../api/credential.js'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { formatDate, formatTime, parseTime } from '../words/format.js'
import { TokenForm } from './token-form.js'
import { TokenLimits } from './token-limits.js'
import { t } from './words.js'

/**
 * @typedef {{ id: string, label: string | null, start: string, created_at: string, expires_at: string | null, scopes?:
 * readonly import('./token-form.js').Scope[] | null, models?: readonly string[] | null, last_used_at?: string | null, has_limits?: boolean, old_secret_until?: string | null }} Token
 */

/** The user's API tokens. */
export const Tokens = () => {
  const api = useApi()
  const list = useLoaded(async (signal) => {
    // The list also shows the console's own token. Create it first.
    await api.credential.get().catch(() => {})
    /** @type {readonly Token[]} */
    const tokens = (await api.request(paths.tokens, { signal })).tokens
    return tokens
  }, [])
  const [creating, setCreating] = useState(false)
  const [rotating, setRotating] = useState(/** @type {Token | undefined} */ (undefined))
  const [created, setCreated] = useState(/** @type {(Token & { token: string }) | undefined} */ (undefined))
  const [revoking, setRevoking] = useState(/** @type {Token | undefined} */ (undefined))

  const create = async (/** @type {import('./token-form.js').TokenRequest} */ body) => {
    const { token } = await api.request(paths.tokens, { method: 'POST', body })
    const { token: _, ...listed } = token
    list.change((tokens) => [...tokens, listed])
    setCreated(token)
  }
  const rotate = async (/** @type {Record<string, string>} */ { overlap = '' }) => {
    if (!rotating) return
    const path = `${paths.tokens}/${encodeURIComponent(rotating.id)}/rotate`
    const { token } = await api.request(path, { method: 'POST', body: { overlap_seconds: Number(overlap) } })
    const { token: _, ...listed } = token
    list.change((tokens) => tokens.map((one) => (one.id === listed.id ? listed : one)))
    setCreated(token)
  }
  const revoke = async () => {
    if (!revoking) return
    await api.request(`${paths.tokens}/${encodeURIComponent(revoking.id)}`, { method: 'DELETE' })
    list.change((tokens) => tokens.filter(({ id }) => id !== revoking.id))
    showToast(t.tokens.revoked)
  }
  const own = (list.value ?? []).filter((token) => !isConsoleToken(token)).reverse()
  const consoles = (list.value ?? []).filter(isConsoleToken).reverse()

  return html`
    <p class="lead">${t.tokens.lead}</p>
    <div class="actions list-actions">
      <button type="button" class="primary" onClick=${() => setCreating(true)}><${Icon} name="add" />${t.tokens.create}</button>
    </div>
    <${Failure} message=${list.error} retry=${list.reload} />
    ${!list.value && list.busy && html`<${Loading} kind="rows" />`}
    ${
      list.value &&
      (own.length > 0
        ? html`<ul class="rows">${own.map((token) => html`<${Row} key=${token.id} token=${token} onRotate=${setRotating} onRevoke=${setRevoking} />`)}</ul>`
        : html`<${Empty} icon="tokens" title=${t.tokens.empty}><p>${t.tokens.emptyHint}</p><//>`)
    }
    ${
      consoles.length > 0 &&
      html`
        <section>
          <h2>${t.tokens.consoleTokens}</h2>
          <p class="lead">${t.tokens.consoleTokensLead}</p>
          <ul class="rows muted">
            ${consoles.map((token) => html`<${Row} key=${token.id} token=${token} isCurrent=${token.id === api.credential.id} onRevoke=${setRevoking} />`)}
          </ul>
        </section>
      `
    }
    ${creating && html`<${TokenForm} create=${create} onClose=${() => setCreating(false)} />`}
    ${
      rotating &&
      html`
        <${FormDialog} title=${t.tokens.rotateOf(rotating.label || rotating.start)} submitLabel=${t.tokens.rotate} action=${rotate} onClose=${() => setRotating(undefined)}>
          <p>${t.tokens.rotateLead}</p>
          <${Select} label=${t.tokens.overlap} name="overlap" choices=${overlaps} />
        <//>
      `
    }
    ${!creating && !rotating && created && html`<${Created} token=${created} onClose=${() => setCreated(undefined)} />`}
    ${
      revoking &&
      html`
        <${FormDialog} danger title=${t.tokens.revoke} submitLabel=${t.tokens.revoke} action=${revoke} onClose=${() => setRevoking(undefined)}>
          <p>${t.tokens.revokeWarning(revoking.label || revoking.start)}</p>
        <//>
      `
    }
  `
}

/** For how many seconds the old secret works. @type {readonly (readonly [string, string])[]} */
const overlaps = [
  ['0', t.tokens.overlaps.none],
  ['3600', t.tokens.overlaps.hour],
  ['86400', t.tokens.overlaps.day],
  ['604800', t.tokens.days(7)],
]

/**
 * @param {{ token: Token, isCurrent?: boolean, onRotate?: (token: Token) => void, onRevoke: (token: Token) => void }} props
 * `onRotate`: missing for the console's own tokens
 */
const Row = ({ token, isCurrent, onRotate, onRevoke }) => {
  const title = token.label || t.tokens.unnamed
  const created = parseTime(token.created_at)
  const ends = parseTime(token.expires_at)
  const used = parseTime(token.last_used_at)
  const old = parseTime(token.old_secret_until)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${title}${isCurrent && html` <span class="badge">${t.tokens.thisPage}</span>`}</p>
        <p class="hint">
          <code>${token.start}…</code>
          ${created && html`<span>${t.createdAt} <time datetime=${created.toISOString()}>${formatDate(created)}</time></span>`}
          <span>${ends ? html`${t.tokens.validUntil} <time datetime=${ends.toISOString()}>${formatTime(ends)}</time>` : t.tokens.neverExpires}</span>
          ${old && old.getTime() > serverNow() && html`<span>${t.tokens.oldWorksUntil} <time datetime=${old.toISOString()}>${formatTime(old)}</time></span>`}
          ${token.last_used_at !== undefined && html`<span>${used ? html`${t.tokens.lastUsed} <time datetime=${used.toISOString()}>${formatTime(used)}</time>` : t.tokens.neverUsed}</span>`}
        </p>
        ${
          onRotate &&
          (token.scopes || token.models) &&
          html`
            <p class="hint">
              ${token.scopes && html`<span>${t.tokens.scopes}${t.colon}${t.listed(token.scopes.map((scope) => t.tokens.scopeNames[scope] ?? scope))}</span>`}
              ${token.models && html`<span>${t.tokens.models}${t.colon}${t.listed(token.models)}</span>`}
            </p>
          `
        }
        ${token.has_limits && html`<${TokenLimits} id=${token.id} name=${title} />`}
      </div>
      <div class="actions">
        ${onRotate && token.old_secret_until !== undefined && html`<button type="button" class="small" aria-label=${t.tokens.rotateOf(title)} onClick=${() => onRotate(token)}>${t.tokens.rotate}</button>`}
        ${
          !isCurrent &&
          html`<button type="button" class="small danger" aria-label=${t.tokens.revokeOf(title)} onClick=${() => onRevoke(token)}>${t.tokens.revoke}</button>`
        }
      </div>
    </li>
  `
}

/**
 * Shows a new secret of a token. The page drops it when the dialog closes.
 * @param {{ token: Token & { token: string }, onClose: () => void }} props
 */
const Created = ({ token, onClose }) => {
  const old = parseTime(token.old_secret_until)
  return html`
    <${Dialog} title=${t.tokens.created} onClose=${onClose}>
      <p>${t.tokens.shownOnce}</p>
      <p class="secret"><code>${token.token}</code></p>
      ${old && html`<p class="hint">${t.tokens.oldWorksUntil} <time datetime=${old.toISOString()}>${formatTime(old)}</time></p>`}
      <div class="actions">
        <${CopyButton} text=${token.token} label=${t.copy} size="" autofocus />
        <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
      </div>
    <//>
  `
}
