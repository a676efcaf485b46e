import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { html } from '../controls/html.js'
import { Failure } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { linkTo } from '../frame/route.js'
import { MoreAtEnd } from '../lists/more-at-end.js'
import { formatNumber } from '../words/format.js'
import { t } from '../words/words.js'
import { pathOf } from './asset.js'

/** @typedef {import('../videos/video-task.js').Task} Task */
/** @typedef {{ TotalCount: number, WaitingCount: number }} Counts */
/** @typedef {Counts & { Items: readonly Task[], NextToken: string }} Page */

/** Most chosen assets whose uses are asked for, a request each. */
const maxChosen = 20

/**
 * @template Result
 * @param {import('../api/api.js').Api} api
 * @param {string} path of an asset or a group
 * @param {Record<string, string>} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<Result | undefined>} undefined: the server does not keep it
 */
const readUses = async (api, path, query, signal) => {
  try {
    return (await api.requestWithToken(`${path}/uses?${new URLSearchParams(query)}`, { signal })).Result
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/**
 * The videos that use an asset, newest first.
 * @param {{ id: string, videos: import('../videos/videos.js').Videos }} props
 */
export const Uses = ({ id, videos }) => {
  const api = useApi()
  const path = pathOf(id)
  const loaded = useLoaded((signal) => /** @type {Promise<Page | undefined>} */ (readUses(api, path, {}, signal)), [id])
  const [busy, setBusy] = useState(false)
  const page = loaded.value
  const more = async () => {
    setBusy(true)
    /** @type {Page | undefined} */
    const next = await readUses(api, path, { NextToken: page?.NextToken ?? '' }).catch(() => undefined)
    loaded.change((before) => {
      if (!before) return before
      // After a failure the list ends here, and says how many there are.
      return next ? { ...next, Items: [...before.Items, ...next.Items] } : { ...before, NextToken: '' }
    })
    setBusy(false)
  }
  if (!page) return loaded.error && html`<${Failure} message=${loaded.error} retry=${loaded.reload} />`
  const { Items: items, TotalCount: total, WaitingCount: waiting, NextToken: next } = page
  return html`
    <section>
      <h2>${t.assets.uses}</h2>
      <p class="hint" role="status">${usesText({ TotalCount: total, WaitingCount: waiting }) || t.assets.noUses}</p>
      <ul class="links">
        ${items.map(
          (task) =>
            html`<li key=${task.id}><a href=${linkTo('videos', task.id)}>${videos.titleOf(task)}</a> <span class=${`badge ${task.status}`}>${t.videos.states[task.status] ?? task.status}</span></li>`,
        )}
      </ul>
      ${items.length > 0 && html`<${MoreAtEnd} shown=${items.length} total=${next ? total : items.length} busy=${busy} loadMore=${more} />`}
    </section>
  `
}

/** @param {Counts | undefined} counts */
const usesText = ({ TotalCount: total, WaitingCount: waiting } = { TotalCount: 0, WaitingCount: 0 }) =>
  total === 0 ? '' : t.assets.usedBy(total, formatNumber(total), waiting, formatNumber(waiting))

/**
 * Says before the deletion of an asset or a group how many videos use it. @param {{ path: string }} props
 */
export const UsesWarning = ({ path }) => {
  const api = useApi()
  const counts = useLoaded(
    (signal) => /** @type {Promise<Counts | undefined>} */ (readUses(api, path, { MaxResults: '1' }, signal)),
    [path],
  )
  const text = usesText(counts.value)
  return text && html`<p class="hint" role="status">${text}</p>`
}

/** The same for several assets. @param {{ ids: readonly string[] }} props */
export const ManyUsesWarning = ({ ids }) => {
  const api = useApi()
  const counted = useLoaded(
    async (signal) => {
      const some = ids.slice(0, maxChosen)
      const read = (/** @type {string} */ id) =>
        /** @type {Promise<Counts | undefined>} */ (readUses(api, pathOf(id), { MaxResults: '1' }, signal))
      const counts = await Promise.all(some.map(read))
      return {
        used: counts.filter((one) => one && one.TotalCount > 0).length,
        needed: counts.filter((one) => one && one.WaitingCount > 0).length,
      }
    },
    [ids],
  )
  const { used = 0, needed = 0 } = counted.value ?? {}
  return used > 0 && html`<p class="hint" role="status">${t.assets.manyUsed(used, needed)}</p>`
}
