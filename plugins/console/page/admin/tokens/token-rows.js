import { serverNow } from '../../api/clock.js'
import { html } from '../../controls/html.js'
import { t } from '../../words/words.js'
import { LimitList } from '../limits/limit-list.js'
import { linkToAdmin } from '../parts/query.js'
import { Time } from '../parts/time.js'
import { usageOfToken } from '../usage/sums.js'
import { w } from '../words/words.js'
import { nameOf, stateOf } from './token.js'

/** @typedef {import('./token.js').Token} Token */

/**
 * The rows of tokens. What the buttons of a row ask for goes to `onOpen`.
 * @param {{ tokens: readonly Token[], withUser?: boolean, onOpen: (open: import('./token-dialogs.js').Open) => void }}
 * props `withUser`: whether each row names its user
 */
export const TokenRows = ({ tokens, withUser = false, onOpen }) => html`
  <ul class="rows">${tokens.map((token) => html`<${Row} key=${token.id} token=${token} withUser=${withUser} onOpen=${onOpen} />`)}</ul>
`

/** @param {{ token: Token, withUser: boolean, onOpen: (open: import('./token-dialogs.js').Open) => void }} props */
const Row = ({ token, withUser, onOpen }) => {
  const state = stateOf(token, serverNow())
  const name = nameOf(token)
  const { label, start, scopes, models, limits, expires_at, last_used_at, old_secret_until } = token
  return html`
    <li>
      <div class="item-text">
        <p class="name">${label || w.tokens.unnamed} ${state !== 'valid' && html`<span class="badge disabled">${w.tokens.states[state]}</span>`}</p>
        <p class="hint">
          ${withUser && html`<a href=${linkToAdmin(['users', token.user])}>${token.user_name}</a>`}
          <code>${start}…</code>
          <span>${t.listed(scopes.map((scope) => w.tokens.scope[scope] ?? scope))}</span>
          <span>${models ? t.listed(models) : w.tokens.allModels}</span>
        </p>
        <p class="hint">
          <span>${expires_at ? html`${w.tokens.validUntil} <${Time} at=${expires_at} />` : w.tokens.neverExpires}</span>
          <span>${last_used_at ? html`${w.tokens.lastUsed} <${Time} at=${last_used_at} />` : w.tokens.neverUsed}</span>
          ${old_secret_until && html`<span>${w.tokens.oldWorksUntil} <${Time} at=${old_secret_until} /></span>`}
        </p>
        ${limits && limits.length > 0 && html`<div class="hint"><${LimitList} limits=${limits} /></div>`}
      </div>
      <div class="actions">
        <a class="button small" aria-label=${w.tokens.usageOf(name)} href=${linkToAdmin(['usage'], usageOfToken(token.id))}>${w.tokens.usage}</a>
        ${
          state !== 'revoked' &&
          html`
            <button type="button" class="small" aria-label=${w.tokens.editOf(name)} onClick=${() => onOpen({ action: 'edit', token })}>${w.tokens.edit}</button>
            <button type="button" class="small" aria-label=${w.tokens.rotateOf(name)} onClick=${() => onOpen({ action: 'rotate', token })}>${w.tokens.rotate}</button>
            <button type="button" class="small danger" aria-label=${w.tokens.revokeOf(name)} onClick=${() => onOpen({ action: 'revoke', token })}>${w.tokens.revoke}</button>
          `
        }
      </div>
    </li>
  `
}
