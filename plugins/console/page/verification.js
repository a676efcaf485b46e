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
const lookMs = 2_000

/** @param {Status} status */
export const isOver = (status) => status === 'verified' || status === 'failed' || status === 'expired'

/** A face verification, followed until it is over. Its link is a secret and is kept nowhere but here. */
export const useVerification = () => {
  const api = useApi()
  const [task, setTask] = useState(/** @type {Task | undefined} */ (undefined))
  const [trouble, setTrouble] = useState(/** @type {string | undefined} */ (undefined))

  const starting = useAction(async () => {
    const begun = await api.ask(path, { method: 'POST', body: {} })
    setTrouble(undefined)
    setTask({
      id: String(begun.verification_id),
      status: begun.status,
      address: String(begun.h5_url),
      endsAt: instantOf(begun.expires_at),
      startedAt: serverNow(),
    })
  })

  const look = async () => {
    if (!task) return
    try {
      const { status, group_id: group } = await api.ask(`${path}/${encodeURIComponent(task.id)}`)
      setTrouble(undefined)
      if (status !== task.status && isOver(status)) {
        say(t.face.states[/** @type {Status} */ (status)], { bad: status !== 'verified' })
      }
      setTask((now) => (now?.id === task.id ? { ...now, status, group } : now))
    } catch (error) {
      if (isAbort(error)) return
      // Nobody has it any more: there is nothing to wait for.
      if (error instanceof Refusal && error.status === 404) setTask({ ...task, status: 'expired' })
      setTrouble(messageOf(error))
      throw error
    }
  }
  usePolling(look, { wanted: task !== undefined && !isOver(task.status), ms: lookMs })

  return { task, trouble, starting, leave: () => setTask(undefined) }
}

/**
 * Seconds since 1970, as the gateway says; an upstream may count milliseconds.
 * @param {unknown} value
 */
const instantOf = (value) => {
  const time = Number(value)
  return time > 1e11 ? time : time * 1000
}
