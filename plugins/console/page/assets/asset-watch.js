import { useEffect } from 'preact/hooks'
import { useEvents } from '../api/events.js'
import { usePolling } from '../frame/hooks.js'

const pollMs = 2_000
/** While events arrive, polling is only there for one that was lost. */
const livePollMs = 15_000
/** Assets that one poll reads. The others follow when these are processed. */
const maxAssetsPerPoll = 8

/**
 * Watches assets that are being processed: `read` is called with the id of one that an event is about, and of each in
 * turn, more often without events.
 * @param {readonly string[]} ids
 * @param {(id: string) => Promise<unknown>} read
 */
export const useAssetWatch = (ids, read) => {
  const enabled = ids.length > 0
  const onEvent = (/** @type {string} */ type, /** @type {string | undefined} */ id) => {
    if (type.startsWith('asset.') && id !== undefined && ids.includes(id)) read(id).catch(() => {})
  }
  const live = useEvents(onEvent, enabled)
  const poll = () => Promise.all(ids.slice(0, maxAssetsPerPoll).map(read))
  // What happened before the stream was open.
  useEffect(() => {
    if (live) poll().catch(() => {})
  }, [live])
  usePolling(poll, { enabled, ms: live ? livePollMs : pollMs })
}
