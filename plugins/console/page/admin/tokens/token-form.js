import { useRef, useState } from 'preact/hooks'
import { serverNow } from '../../api/clock.js'
import { Dialog } from '../../controls/dialog.js'
import { html } from '../../controls/html.js'
import { parseTime } from '../../words/format.js'
import { LimitEditor, limitsOfDraft, useLimitsDraft } from '../limits/limit-editor.js'
import { FieldFault } from '../parts/faults.js'
import { Choice, Fault, FaultForm, Input, useFault } from '../parts/form.js'
import { w } from '../words/words.js'

/** @typedef {import('./token.js').Scope} Scope */

const scopes = /** @type {readonly Scope[]} */ (Object.keys(w.tokens.scope))
const dayMs = 86_400_000

/**
 * The form of a new token, or of one that exists. `save` gets what was filled in; with a token only what differs.
 * @param {{ title: string, submitLabel: string, token?: import('./token.js').Token, isAdmin: boolean, save: (fields:
 * object) => Promise<unknown>, onClose: () => void }} props `isAdmin`: whether the user is one
 */
export const TokenForm = ({ title, submitLabel, token, isAdmin, save, onClose }) => {
  const [draft, setDraft] = useLimitsDraft(token?.limits ?? null, false)
  const [chosen, setChosen] = useState(() => new Set(token?.scopes ?? ['media', 'text', 'video']))
  const [expiry, setExpiry] = useState(token ? 'keep' : '90')
  const before = useRef(token)
  const submit = async (/** @type {Record<string, string>} */ fields) => {
    const models = (fields.models ?? '')
      .split(/[\n,]/)
      .map((model) => model.trim())
      .filter(Boolean)
    const limits = limitsOfDraft(draft)
    const filled = {
      label: fields.label || null,
      scopes: scopes.filter((scope) => chosen.has(scope)),
      models: models.length > 0 ? models : null,
      limits: limits?.length ? limits : null,
      ...(expiry !== 'keep' && { expires_at: expiresAt(expiry, fields.until) }),
    }
    if (filled.scopes.length === 0) throw new FieldFault('scopes', w.faults.fields.scopes)
    await save(before.current ? changesOf(before.current, filled) : filled)
  }
  const expiries = ['never', '7', '30', '90', '365', 'at', ...(token ? ['keep'] : [])]
  return html`
    <${Dialog} wide title=${title} onClose=${onClose}>
      <${FaultForm} submitLabel=${submitLabel} action=${submit} onCancel=${onClose}>
        <${Input} label=${w.tokens.label} hint=${w.tokens.labelHint} name="label" defaultValue=${token?.label ?? ''} maxlength="128" autocomplete="off" />
        <${Scopes} chosen=${chosen} onChange=${setChosen} isAdmin=${isAdmin} />
        <${Input} multiline label=${w.tokens.models} hint=${w.tokens.modelsHint} name="models" defaultValue=${token?.models?.join('\n') ?? ''} autocapitalize="off" spellcheck=${false} />
        <div class="two">
          <${Choice}
            label=${w.tokens.expiry}
            name="expiry"
            value=${expiry}
            choices=${expiries.map((one) => [one, /** @type {Record<string, string>} */ (w.tokens.expiries)[one]])}
            onChange=${(/** @type {Event} */ event) => setExpiry(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
          />
          ${expiry === 'at' && html`<${Input} label=${w.tokens.expiresAt} name="until" type="datetime-local" defaultValue=${localTime(token?.expires_at)} />`}
          <${ExpiryFault} />
        </div>
        <${LimitEditor} legend=${w.tokens.limits} draft=${draft} onChange=${setDraft} />
      <//>
    <//>
  `
}

/** A fault of the time that the choice has set. */
const ExpiryFault = () => html`<${Fault} id="expiry-fault" message=${useFault('expires_at')} />`

/**
 * @param {{ chosen: Set<Scope>, onChange: (chosen: Set<Scope>) => void, isAdmin: boolean }} props
 */
const Scopes = ({ chosen, onChange, isAdmin }) => {
  const fault = useFault('scopes')
  const toggle = (/** @type {Scope} */ scope) => {
    const next = new Set(chosen)
    if (!next.delete(scope)) next.add(scope)
    onChange(next)
  }
  return html`
    <fieldset class="limits" aria-describedby=${fault ? 'scopes-fault' : undefined}>
      <legend>${w.tokens.scopes}</legend>
      <div class="options">
        ${scopes.map(
          (scope, at) => html`
            <label key=${scope} class="check">
              <input type="checkbox" checked=${chosen.has(scope)} data-field=${at === 0 ? 'scopes' : undefined} onChange=${() => toggle(scope)} />
              <span><code>${scope}</code> ${w.tokens.scope[scope]}</span>
            </label>
          `,
        )}
      </div>
      <${Fault} id="scopes-fault" message=${fault} />
      ${!isAdmin && (chosen.has('admin') || chosen.has('provision')) && html`<p class="hint" role="status">${w.tokens.onlyAdmin}</p>`}
    </fieldset>
  `
}

/**
 * @param {string} expiry
 * @param {string | undefined} until
 */
const expiresAt = (expiry, until = '') => {
  if (expiry === 'never') return null
  if (expiry !== 'at') return new Date(serverNow() + Number(expiry) * dayMs).toISOString()
  const time = new Date(until)
  if (Number.isNaN(time.getTime())) throw new FieldFault('until', w.faults.required)
  if (time.getTime() <= serverNow()) throw new FieldFault('until', w.faults.fields.expires_at)
  return time.toISOString()
}

/**
 * A time for an input of the browser's time zone.
 * @param {string | null | undefined} at
 */
const localTime = (at) => {
  const time = parseTime(at)
  if (!time) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/**
 * @param {import('./token.js').Token} token
 * @param {Record<string, unknown>} filled
 */
const changesOf = (token, filled) =>
  Object.fromEntries(
    Object.entries(filled).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(/** @type {Record<string, unknown>} */ (token)[name]),
    ),
  )
