import { useState } from 'preact/hooks'
import { isConsoleToken } from '../api/credential.js'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { formatDate, formatTime, parseTime } from '../words/format.js'
import { TokenForm } from './token-form.js'
import { t } from './words.js'

/**
 * @typedef {{ id: string, label: string | null, start: string, created_at: string, expires_at: string | null, scopes?:
 * readonly import('./token-form.js').Scope[] | null, models?: readonly string[] | null, last_used_at?: string | null }} Token
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
  const [replaced, setReplaced] = useState(/** @type {Token | undefined} */ (undefined))
  const [created, setCreated] = useState(/** @type {(Token & { token: string }) | undefined} */ (undefined))
  const [revoking, setRevoking] = useState(/** @type {Token | undefined} */ (undefined))

  const create = async (/** @type {import('./token-form.js').TokenRequest} */ body) => {
    const { token } = await api.request(paths.tokens, { method: 'POST', body })
    const { token: _, ...listed } = token
    list.change((tokens) => [...tokens, listed])
    setCreated(token)
  }
  const open = (/** @type {Token | undefined} */ token) => {
    setReplaced(token)
    setCreating(true)
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
      <button type="button" class="primary" onClick=${() => open(undefined)}><${Icon} name="add" />${t.tokens.create}</button>
    </div>
    <${Failure} message=${list.error} retry=${list.reload} />
    ${!list.value && list.busy && html`<${Loading} kind="rows" />`}
    ${
      list.value &&
      (own.length > 0
        ? html`<ul class="rows">${own.map((token) => html`<${Row} key=${token.id} token=${token} onReplace=${open} onRevoke=${setRevoking} />`)}</ul>`
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
    ${creating && html`<${TokenForm} replaced=${replaced} create=${create} onClose=${() => setCreating(false)} />`}
    ${!creating && created && html`<${Created} token=${created} replaced=${replaced} onRevoke=${setRevoking} onClose=${() => setCreated(undefined)} />`}
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

/** @param {{ token: Token, isCurrent?: boolean, onReplace?: (token: Token) => void, onRevoke: (token: Token) => void }} props */
const Row = ({ token, isCurrent, onReplace, onRevoke }) => {
  const title = token.label || t.tokens.unnamed
  const created = parseTime(token.created_at)
  const ends = parseTime(token.expires_at)
  const used = parseTime(token.last_used_at)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${title}${isCurrent && html` <span class="badge">${t.tokens.thisPage}</span>`}</p>
        <p class="hint">
          <code>${token.start}…</code>
          ${created && html`<span>${t.createdAt} <time datetime=${created.toISOString()}>${formatDate(created)}</time></span>`}
          <span>${ends ? html`${t.tokens.validUntil} <time datetime=${ends.toISOString()}>${formatTime(ends)}</time>` : t.tokens.neverExpires}</span>
          ${token.last_used_at !== undefined && html`<span>${used ? html`${t.tokens.lastUsed} <time datetime=${used.toISOString()}>${formatTime(used)}</time>` : t.tokens.neverUsed}</span>`}
        </p>
        ${
          onReplace &&
          (token.scopes || token.models) &&
          html`
            <p class="hint">
              ${token.scopes && html`<span>${t.tokens.scopes}: ${token.scopes.map((scope) => t.tokens.scopeNames[scope] ?? scope).join(', ')}</span>`}
              ${token.models && html`<span>${t.tokens.models}: ${token.models.join(', ')}</span>`}
            </p>
          `
        }
      </div>
      <div class="actions">
        ${onReplace && html`<button type="button" class="small" aria-label=${t.tokens.replaceOf(title)} onClick=${() => onReplace(token)}>${t.tokens.replace}</button>`}
        ${
          !isCurrent &&
          html`<button type="button" class="small danger" aria-label=${t.tokens.revokeOf(title)} onClick=${() => onRevoke(token)}>${t.tokens.revoke}</button>`
        }
      </div>
    </li>
  `
}

/**
 * Shows a new token. The page drops it when the dialog closes.
 * @param {{ token: Token & { token: string }, replaced: Token | undefined, onRevoke: (token: Token) => void, onClose: () =>
 * void }} props `replaced`: the token that it replaces, which is valid until it is revoked
 */
const Created = ({ token, replaced, onRevoke, onClose }) => html`
  <${Dialog} title=${t.tokens.created} onClose=${onClose}>
    <p>${t.tokens.shownOnce}</p>
    <p class="secret"><code>${token.token}</code></p>
    ${replaced && html`<p class="hint">${t.tokens.replacedHint}</p>`}
    <div class="actions">
      <${CopyButton} text=${token.token} label=${t.copy} size="" autofocus />
      ${
        replaced &&
        html`<button type="button" class="danger" onClick=${() => {
          onClose()
          onRevoke(replaced)
        }}>${t.tokens.revokeOld}</button>`
      }
      <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
    </div>
  <//>
`
