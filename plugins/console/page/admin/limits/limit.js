import { formatBytes, formatCost, formatNumber } from '../../words/format.js'
import { FieldFault } from '../parts/faults.js'
import { w } from '../words/words.js'

/** @typedef {keyof typeof w.limits.units} Unit */
/** @typedef {'minute' | 'hour' | 'day' | 'week' | 'month'} Window */
/** @typedef {{ unit: Unit, amount: number, window?: Window, model?: string }} Limit */
/** @typedef {{ id: number, unit: Unit, amount: string, window: Window | 'ever', model: string }} Draft as it is typed */

/** Units that calls use up: their limits have a period and a model. */
const consumed = new Set(['requests', 'tokens', 'cost', 'videos', 'video_seconds'])

/** @param {Unit} unit */
export const isConsumed = (unit) => consumed.has(unit)

export const units = /** @type {readonly Unit[]} */ (Object.keys(w.limits.units))

/** @param {{ unit: Unit, amount: number }} limit */
export const formatAmount = ({ unit, amount }) => {
  if (unit === 'cost') return formatCost(amount)
  return unit === 'storage_bytes' ? formatBytes(amount) : formatNumber(amount)
}

/**
 * A limit in words, such as `1,000 tokens a day of gpt-*`.
 * @param {{ unit: Unit, amount: number, window?: Window | null, model?: string | null }} limit
 */
export const limitText = ({ unit, amount, window, model }) =>
  w.limits.sentence(
    w.limits.inSentence[unit](formatAmount({ unit, amount })),
    w.limits.windowInSentence[window ?? (isConsumed(unit) ? 'ever' : 'none')],
    model ? w.limits.modelInSentence(model) : '',
  )

let lastId = 0

/**
 * @param {Limit} [limit]
 * @returns {Draft}
 */
export const draftOf = ({ unit, amount, window, model } = { unit: 'tokens', amount: Number.NaN, window: 'day' }) => {
  lastId += 1
  return {
    id: lastId,
    unit,
    amount: Number.isNaN(amount) ? '' : String(amount),
    window: window ?? 'ever',
    model: model ?? '',
  }
}

/**
 * The limits that were typed. Throws FieldFault at the place of the first fault.
 * @param {readonly Draft[]} drafts
 * @returns {readonly Limit[]}
 */
export const limitsFrom = (drafts) => {
  const places = new Map()
  return drafts.map((draft, index) => {
    const at = `limits[${index}]`
    const { unit } = draft
    const amount = amountFrom(unit, draft.amount.trim())
    if (amount === undefined)
      throw new FieldFault(`${at}.amount`, unit === 'cost' ? w.limits.costAmount : w.limits.wholeAmount)
    const window = isConsumed(unit) && draft.window !== 'ever' ? draft.window : undefined
    const model = isConsumed(unit) ? draft.model.trim() : ''
    if (model !== '' && !/^(?:[^*\p{Cc}]{1,256}|[^*\p{Cc}]{0,255}\*)$/u.test(model))
      throw new FieldFault(`${at}.model`, w.faults.fields['limits.model'])
    const key = JSON.stringify([unit, window, model])
    const earlier = places.get(key)
    if (earlier !== undefined) throw new FieldFault(`${at}.unit`, w.limits.duplicate(earlier + 1))
    places.set(key, index)
    return { unit, amount, ...(window && { window }), ...(model && { model }) }
  })
}

/**
 * @param {Unit} unit
 * @param {string} text
 */
const amountFrom = (unit, text) => {
  const pattern = unit === 'cost' ? /^\d{1,7}(?:\.\d{1,9})?$/ : /^\d{1,16}$/
  const amount = Number(text)
  const max = unit === 'cost' ? 9_000_000 : Number.MAX_SAFE_INTEGER
  return pattern.test(text) && amount <= max ? amount : undefined
}
