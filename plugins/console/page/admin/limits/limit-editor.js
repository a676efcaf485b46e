import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { html } from '../../controls/html.js'
import { Icon } from '../../controls/icons.js'
import { locale } from '../../words/words.js'
import { Choice, Fault, Input, useFault } from '../parts/form.js'
import { w } from '../words/words.js'
import { amountFrom, draftOf, formatExactAmount, isConsumed, isSize, limitsFrom, limitText, units } from './limit.js'
import { LimitList } from './limit-list.js'
import { useLimitSettings } from './limit-settings.js'

/** @typedef {import('./limit.js').Draft} Draft */
/** @typedef {import('./limit.js').Limit} Limit */
/** @typedef {{ mode: 'user' | 'none' | 'own', drafts: readonly Draft[] }} LimitsDraft */

const maxLimits = 50
const windows = /** @type {const} */ (['minute', 'hour', 'day', 'week', 'month', 'ever'])

/**
 * What is typed of a list of limits. null: no list.
 * @param {readonly Limit[] | null} limits
 * @param {boolean} hasDefault whether no list means the limits of every user; else it means no limits
 * @returns {[LimitsDraft, (draft: LimitsDraft) => void]}
 */
export const useLimitsDraft = (limits, hasDefault) => {
  const [draft, setDraft] = useState(() => {
    const mode = limits === null ? (hasDefault ? 'user' : 'none') : limits.length === 0 ? 'none' : 'own'
    return /** @type {LimitsDraft} */ ({ mode, drafts: (limits ?? []).map(draftOf) })
  })
  return [draft, setDraft]
}

/**
 * The limits to send. null: no list. Throws FieldFault.
 * @param {LimitsDraft} draft
 * @returns {readonly Limit[] | null}
 */
export const limitsOfDraft = ({ mode, drafts }) => (mode === 'user' ? null : mode === 'none' ? [] : limitsFrom(drafts))

/**
 * Edits a list of limits. It explains units, periods, time zones and models where they are chosen.
 * @param {{ draft: LimitsDraft, onChange: (draft: LimitsDraft) => void, hasDefault?: boolean, legend?: string }} props
 */
export const LimitEditor = ({ draft, onChange, hasDefault = false, legend = w.limits.mode }) => {
  const name = useId()
  const listFault = useFault('limits')
  const end = useRef(/** @type {HTMLElement | null} */ (null))
  const added = useRef(0)
  const { mode, drafts } = draft
  /** @type {readonly LimitsDraft['mode'][]} */
  const modes = hasDefault ? ['user', 'none', 'own'] : ['none', 'own']
  const choose = (/** @type {LimitsDraft['mode']} */ chosen) =>
    onChange({ mode: chosen, drafts: chosen === 'own' && drafts.length === 0 ? [draftOf()] : drafts })
  const add = () => {
    const one = draftOf()
    added.current = one.id
    onChange({ mode, drafts: [...drafts, one] })
  }
  const remove = (/** @type {number} */ id) => {
    onChange({ mode, drafts: drafts.filter((one) => one.id !== id) })
    end.current?.focus()
  }
  const change = (/** @type {Draft} */ changed) =>
    onChange({ mode, drafts: drafts.map((one) => (one.id === changed.id ? changed : one)) })
  useEffect(() => {
    if (added.current === 0) return
    added.current = 0
    const last = end.current?.parentElement?.querySelector('.limit:last-of-type select')
    if (last instanceof HTMLElement) last.focus()
  }, [drafts.length])
  return html`
    <fieldset class="limits">
      <legend>${legend}</legend>
      <div class="options">
        ${modes.map(
          (one) => html`
            <label key=${one} class="check">
              <input type="radio" name=${name} value=${one} checked=${mode === one} onChange=${() => choose(one)} />
              <span>${w.limits.modes[one]}</span>
            </label>
          `,
        )}
      </div>
      ${hasDefault && mode === 'user' && html`<${DefaultLimits} />`}
      ${
        mode === 'own' &&
        html`
          ${hasDefault && html`<p class="hint">${w.limits.replaces}</p>`}
          ${drafts.length === 0 && html`<p class="hint">${w.limits.emptyList}</p>`}
          ${drafts.map((one, index) => html`<${Entry} key=${one.id} draft=${one} index=${index} onChange=${change} onRemove=${remove} />`)}
          <${Fault} id=${`${name}-fault`} message=${listFault} />
          <button type="button" class="small add" ref=${end} data-field="limits" aria-disabled=${drafts.length >= maxLimits} onClick=${() => drafts.length < maxLimits && add()}>
            <${Icon} name="add" />${w.limits.add}
          </button>
        `
      }
    </fieldset>
  `
}

/** The limits of every user, which the server was configured with. */
const DefaultLimits = () => {
  const { userLimits } = useLimitSettings()
  if (userLimits === undefined) return undefined
  return userLimits.length === 0
    ? html`<p class="hint">${w.limits.noDefault}</p>`
    : html`<div class="hint"><p>${w.limits.defaultIs}</p><${LimitList} limits=${userLimits} /></div>`
}

/** @param {{ draft: Draft, index: number, onChange: (draft: Draft) => void, onRemove: (id: number) => void }} props */
const Entry = ({ draft, index, onChange, onRemove }) => {
  const { zone } = useLimitSettings()
  const at = `limits[${index}]`
  const title = useId()
  const { id, unit, amount, window, model } = draft
  const isUsedUp = isConsumed(unit)
  const on = (/** @type {keyof Draft} */ member) => (/** @type {Event} */ event) =>
    onChange({ ...draft, [member]: /** @type {HTMLInputElement} */ (event.currentTarget).value })
  return html`
    <div class="limit" role="group" aria-labelledby=${title}>
      <div class="limit-head">
        <h3 id=${title}>${w.limits.number(index + 1)}</h3>
        <button type="button" class="small plain" aria-label=${w.limits.removeOf(index + 1)} onClick=${() => onRemove(id)}>${w.limits.remove}</button>
      </div>
      <div class="limit-fields">
        <${Choice} label=${w.limits.unit} name=${`${at}.unit`} value=${unit} choices=${units.map((one) => [one, w.limits.units[one]])} onChange=${on('unit')} />
        <${Input} label=${w.limits.amount} name=${`${at}.amount`} value=${amount} inputmode=${unit === 'cost' || isSize(unit) ? 'decimal' : 'numeric'} autocomplete="off" maxlength="20" onInput=${on('amount')} />
        ${isUsedUp && html`<${Choice} label=${w.limits.window} name=${`${at}.window`} value=${window} choices=${windows.map((one) => [one, w.limits.windows[one]])} onChange=${on('window')} />`}
        ${isUsedUp && html`<${Input} label=${w.limits.model} name=${`${at}.model`} value=${model} autocomplete="off" autocapitalize="off" spellcheck=${false} maxlength="256" onInput=${on('model')} />`}
      </div>
      <p class="hint" aria-live="polite"><strong>${sentenceOf(draft)}</strong> ${w.limits.unitHints[unit]} ${isUsedUp && windowHint(window, zone)} ${isUsedUp && index === 0 && w.limits.modelHint}</p>
    </div>
  `
}

/** @param {Draft} draft */
const sentenceOf = ({ unit, amount, window, model }) => {
  const number = amountFrom(unit, amount.trim())
  if (number === undefined) return ''
  const isUsedUp = isConsumed(unit)
  const shownWindow = isUsedUp && window !== 'ever' ? window : undefined
  return `${limitText({ unit, amount: number, window: shownWindow, model: isUsedUp ? model.trim() : '' }, formatExactAmount)}.`
}

/**
 * @param {Draft['window']} window
 * @param {string} zone
 */
const windowHint = (window, zone) => {
  const hint = w.limits.windowHints[window]
  if (typeof hint === 'string') return hint
  const now = new Intl.DateTimeFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone: zone })
  return hint(zone, now.format(Date.now()))
}
