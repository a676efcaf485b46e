import { useState } from 'preact/hooks'
import { ApiError, isAbort, messageOf } from '../api/api-error.js'
import { serverNow } from '../api/clock.js'
import { paths } from '../api/paths.js'
import { showToast } from '../controls/toast.js'
import { useAction, useApi, usePolling } from '../frame/hooks.js'
import { t } from '../words/words.js'

/** @typedef {'waiting_user' | 'callback_received' | 'resolving' | 'verified' | 'failed' | 'expired'} Status */
/**
 * @typedef {{ id: string, status: Status, address: string, endsAt: number, startedAt: number, group?: string }} Task
 */
/** @typedef {ReturnType<typeof useVerification>} Verification */

const path = paths.faceVerification
const pollMs = 2_000

/** @param {Status} status */
export const hasEnded = (status) => status === 'verified' || status === 'failed' || status === 'expired'

/** A face verification, which is polled until it has ended. Its link is a secret and exists only in this state. */
export const useVerification = () => {
  const api = useApi()
  const [task, setTask] = useState(/** @type {Task | undefined} */ (undefined))
  const [pollError, setPollError] = useState(/** @type {string | undefined} */ (undefined))

  const start = useAction(async () => {
    const created = await api.request(path, { method: 'POST', body: {} })
    setPollError(undefined)
    setTask({
      id: String(created.verification_id),
      status: created.status,
      address: String(created.h5_url),
      endsAt: epochMsOf(created.expires_at),
      startedAt: serverNow(),
    })
  })

  const poll = async () => {
    if (!task) return
    try {
      const { status, group_id: group } = await api.request(`${path}/${encodeURIComponent(task.id)}`)
      setPollError(undefined)
      if (status !== task.status && hasEnded(status)) {
        showToast(t.face.states[/** @type {Status} */ (status)], { isError: status !== 'verified' })
      }
      setTask((current) => (current?.id === task.id ? { ...current, status, group } : current))
    } catch (error) {
      if (isAbort(error)) return
      // The server no longer has the task, so polling ends.
      if (error instanceof ApiError && error.status === 404) setTask({ ...task, status: 'expired' })
      setPollError(messageOf(error))
      throw error
    }
  }
  usePolling(poll, { enabled: task !== undefined && !hasEnded(task.status), ms: pollMs })

  return { task, pollError, start, reset: () => setTask(undefined) }
}

/**
 * Converts a time to milliseconds since 1970. The gateway sends seconds; an upstream may send milliseconds.
 * @param {unknown} value
 */
const epochMsOf = (value) => {
  const time = Number(value)
  return time > 1e11 ? time : time * 1000
}
