import { useState } from 'preact/hooks'
import { segment } from './api.js'
import { useAction, useApi, usePolling } from './asking.js'
import { serverNow } from './clock.js'
import { isAbort, messageOf, Refusal } from './refusal.js'
import { say } from './say.js'
import { t } from './strings.js'

/** @typedef {'waiting_user' | 'callback_received' | 'resolving' | 'verified' | 'failed' | 'expired'} Status */
/** @typedef {{ id: string, status: Status, address: string, endsAt: number, startedAt: number, group?: string }} Task */
/** @typedef {ReturnType<typeof useVerification>} Verification */

const path = `/api/${segment}/face-verifications`
const pollMs = 2_000

/** @param {Status} status */
export const isOver = (status) => status === 'verified' || status === 'failed' || status === 'expired'

/** A face verification, which is polled until it has ended. Its link is a secret and exists only in this state. */
export const useVerification = () => {
  const api = useApi()
  const [task, setTask] = useState(/** @type {Task | undefined} */ (undefined))
  const [trouble, setTrouble] = useState(/** @type {string | undefined} */ (undefined))

  const starting = useAction(async () => {
    const created = await api.ask(path, { method: 'POST', body: {} })
    setTrouble(undefined)
    setTask({
      id: String(created.verification_id),
      status: created.status,
      address: String(created.h5_url),
      endsAt: instantOf(created.expires_at),
      startedAt: serverNow(),
    })
  })

  const poll = async () => {
    if (!task) return
    try {
      const { status, group_id: group } = await api.ask(`${path}/${encodeURIComponent(task.id)}`)
      setTrouble(undefined)
      if (status !== task.status && isOver(status)) {
        say(t.face.states[/** @type {Status} */ (status)], { bad: status !== 'verified' })
      }
      setTask((current) => (current?.id === task.id ? { ...current, status, group } : current))
    } catch (error) {
      if (isAbort(error)) return
      // The server no longer has the task, so polling ends.
      if (error instanceof Refusal && error.status === 404) setTask({ ...task, status: 'expired' })
      setTrouble(messageOf(error))
      throw error
    }
  }
  usePolling(poll, { enabled: task !== undefined && !isOver(task.status), ms: pollMs })

  return { task, trouble, starting, leave: () => setTask(undefined) }
}

/**
 * Converts a time to milliseconds since 1970. The gateway sends seconds; an upstream may send milliseconds.
 * @param {unknown} value
 */
const instantOf = (value) => {
  const time = Number(value)
  return time > 1e11 ? time : time * 1000
}
