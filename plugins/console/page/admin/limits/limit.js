import { formatCost, formatNumber } from '../../words/format.js'
import { bytesInMegabyte, formatExactBytes, formatMegabytes } from '../../words/size.js'
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
  return isSize(unit) ? formatMegabytes(amount) : formatNumber(amount)
}

/** The same, with the exact bytes of a size. @param {{ unit: Unit, amount: number }} limit */
export const formatExactAmount = (limit) =>
  isSize(limit.unit) ? `${formatAmount(limit)} (${formatExactBytes(limit.amount)})` : formatAmount(limit)

/**
 * A limit in words, such as `1,000 tokens a day of gpt-*`.
 * @param {{ unit: Unit, amount: number, window?: Window | null, model?: string | null }} limit
 * @param {typeof formatAmount} [format]
 */
export const limitText = ({ unit, amount, window, model }, format = formatAmount) =>
  w.limits.sentence(
    w.limits.inSentence[unit](format({ unit, amount })),
    w.limits.windowInSentence[window ?? (isConsumed(unit) ? 'ever' : 'none')],
    model ? w.limits.modelInSentence(model) : '',
  )

/** Sizes are typed in MB. @param {Unit} unit */
export const isSize = (unit) => unit === 'storage_bytes'

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
    amount: Number.isNaN(amount) ? '' : String(isSize(unit) ? amount / bytesInMegabyte : amount),
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
    if (amount === undefined) throw new FieldFault(`${at}.amount`, amountFault(unit))
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

/** @param {Unit} unit */
const amountFault = (unit) => {
  if (isSize(unit)) return w.limits.sizeAmount
  return unit === 'cost' ? w.limits.costAmount : w.limits.wholeAmount
}

/**
 * The amount that was typed, of a size in bytes. Undefined: it is none.
 * @param {Unit} unit
 * @param {string} text
 */
export const amountFrom = (unit, text) => {
  if (isSize(unit)) return bytesFrom(text)
  const pattern = unit === 'cost' ? /^\d{1,7}(?:\.\d{1,9})?$/ : /^\d{1,16}$/
  const amount = Number(text)
  const max = unit === 'cost' ? 9_000_000 : Number.MAX_SAFE_INTEGER
  return pattern.test(text) && amount <= max ? amount : undefined
}

/** @param {string} text a number of MB */
const bytesFrom = (text) => {
  const [, whole, decimals = ''] = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const bytes = Number(`${whole}${decimals.padEnd(6, '0')}`)
  return whole !== undefined && bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined
}
