import { paths } from '../api/paths.js'

/** @typedef {'Waiting' | 'Sending' | 'Created' | 'Failed' | 'Unknown' | 'Cancelled'} ItemState */
/**
 * @typedef {object} Batch
 * @property {string} Id
 * @property {string} GroupId
 * @property {'Running' | 'Ended'} State
 * @property {string} CreateTime
 * @property {string} [CancelTime]
 * @property {string} [EndTime]
 * @property {number} TotalCount
 * @property {Readonly<Record<ItemState, number>>} Counts
 */
/** @typedef {{ URL: string, AssetType: string, Name?: string }} NewItem */
/** @typedef {import('../api/api.js').Api} Api */

/** Items of one batch. */
export const maxItems = 1_000
/** Characters of the name of an asset. */
const maxName = 64

/**
 * Adds a batch of assets to a group.
 * @param {Api} api
 * @param {{ id: string, type: import('../assets/group.js').GroupType }} group
 * @param {readonly NewItem[]} items
 * @param {string} idempotencyKey
 * @returns {Promise<Batch>}
 */
export const createBatch = async (api, { id, type }, items, idempotencyKey) => {
  const query = new URLSearchParams({ GroupId: id, GroupType: type })
  const options = { method: 'POST', lines: items, idempotencyKey }
  return (await api.requestWithToken(`${paths.batches}?${query}`, options)).Result
}

/**
 * A name that no other item of a batch has. It is taken from then on.
 * @param {Set<string>} taken
 * @param {string} wanted
 */
export const uniqueName = (taken, wanted) => {
  const cut = (/** @type {string} */ end) =>
    [...wanted]
      .slice(0, maxName - end.length)
      .join('')
      .trim() + end
  let name = cut('')
  for (let nth = 2; taken.has(name); nth++) name = cut(` ${nth}`)
  taken.add(name)
  return name
}
