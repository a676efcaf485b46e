import { t } from '../words/words.js'

/** @type {readonly (readonly [string, string])[]} */
export const orders = [
  ['CreateTime Desc', t.order.newest],
  ['CreateTime Asc', t.order.oldest],
  ['UpdateTime Desc', t.order.changed],
]

/** The parameters of an order. @param {string} order */
export const sortOf = (order) => {
  const [SortBy = '', SortOrder = ''] = order.split(' ')
  return { SortBy, SortOrder }
}
