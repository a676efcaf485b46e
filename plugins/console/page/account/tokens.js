import { useState } from 'preact/hooks'
import { serverNow } from '../api/clock.js'
import { isConsoleToken } from '../api/credential.js'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { Dialog, FormDialog } from '../controls/dialog.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { formatDate, formatTime, parseTime } from '../words/format.js'
import { t } from '../words/words.js'
import { Webhooks } from './webhooks.js'

/**
 * @typedef {{ id: string, label: string | null, start: string, created_at: string, expires_at: string | null }} Token
 */

const dayMs = 86_400_000

/** @type {readonly (readonly [string, string])[]} */
const lifetimes = [
  ['30', t.tokens.days(30)],
  ['90', t.tokens.days(90)],
  ['365', t.tokens.days(365)],
  ['7', t.tokens.days(7)],
  ['', t.tokens.noExpiry],
]

/**
 * The user's access for programs: API tokens, and webhooks.
 * @param {{ part: string | undefined }} props `part`: `webhooks`, or undefined for the tokens
 */
export const Access = ({ part }) => {
  const isWebhooks = part === 'webhooks'
  return html`
    <div class="heading"><h1 tabindex="-1">${isWebhooks ? t.webhooks.tab : t.tokens.title}</h1></div>
    <nav class="tabs" aria-label=${t.tokens.sections}>
      <a href=${linkTo('tokens')} aria-current=${isWebhooks ? undefined : 'true'}>${t.tokens.title}</a>
      <a href=${linkTo('tokens', 'webhooks')} aria-current=${isWebhooks ? 'true' : undefined}>${t.webhooks.tab}</a>
    </nav>
    ${isWebhooks ? html`<${Webhooks} />` : html`<${Tokens} />`}
  `
}

const Tokens = () => {
  const api = useApi()
  const list = useLoaded(async (signal) => {
    // The list also shows the console's own token. Create it first.
    await api.credential.get().catch(() => {})
    /** @type {readonly Token[]} */
    const tokens = (await api.request(paths.tokens, { signal })).tokens
    return tokens
  }, [])
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState(/** @type {(Token & { token: string }) | undefined} */ (undefined))
  const [revoking, setRevoking] = useState(/** @type {Token | undefined} */ (undefined))

  const create = async (/** @type {Record<string, string>} */ { label = '', days }) => {
    const expires_at = days ? new Date(serverNow() + Number(days) * dayMs).toISOString() : undefined
    const { token } = await api.request(paths.tokens, { method: 'POST', body: { label, expires_at } })
    const { token: _, ...listed } = token
    list.change((tokens) => [...tokens, listed])
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
        ? html`<ul class="rows">${own.map((token) => html`<${Row} key=${token.id} token=${token} onRevoke=${setRevoking} />`)}</ul>`
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
    ${
      creating &&
      html`
        <${FormDialog} title=${t.tokens.create} submitLabel=${t.tokens.create} action=${create} onClose=${() => setCreating(false)}>
          <${Field} label=${t.tokens.label} hint=${t.tokens.labelHint} name="label" maxlength="128" required autocomplete="off" />
          <${Select} label=${t.tokens.validFor} name="days" choices=${lifetimes} />
        <//>
      `
    }
    ${!creating && created && html`<${Created} token=${created} onClose=${() => setCreated(undefined)} />`}
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

/** @param {{ token: Token, isCurrent?: boolean, onRevoke: (token: Token) => void }} props */
const Row = ({ token, isCurrent, onRevoke }) => {
  const title = token.label || t.tokens.unnamed
  const created = parseTime(token.created_at)
  const ends = parseTime(token.expires_at)
  return html`
    <li>
      <div class="item-text">
        <p class="name">${title}${isCurrent && html` <span class="badge">${t.tokens.thisPage}</span>`}</p>
        <p class="hint">
          <code>${token.start}…</code>
          ${created && html`<span>${t.createdAt} <time datetime=${created.toISOString()}>${formatDate(created)}</time></span>`}
          <span>${ends ? html`${t.tokens.validUntil} <time datetime=${ends.toISOString()}>${formatTime(ends)}</time>` : t.tokens.neverExpires}</span>
        </p>
      </div>
      <div class="actions">
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
 * @param {{ token: Token & { token: string }, onClose: () => void }} props
 */
const Created = ({ token, onClose }) => html`
  <${Dialog} title=${t.tokens.created} onClose=${onClose}>
    <p>${t.tokens.shownOnce}</p>
    <p class="secret"><code>${token.token}</code></p>
    <div class="actions">
      <${CopyButton} text=${token.token} label=${t.copy} size="" autofocus />
      <button type="button" class="primary" onClick=${onClose}>${t.done}</button>
    </div>
  <//>
`
