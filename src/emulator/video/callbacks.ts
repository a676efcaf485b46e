import type { AppliedFault } from '../faults/registry.ts'
import type { VideoTask } from './tasks/task.ts'

/** One attempt to deliver a callback. */
export interface VideoCallback {
  readonly taskId: string
  readonly url: string
  /** the task as JSON text */
  readonly body: string
  /** 1 to 3 */
  readonly attempt: number
  /** whether a fault made it up */
  readonly forged: boolean
  /** status of the answer; absent while there is none, and when the connection failed or no answer came in time */
  readonly status?: number
}

/** The callbacks of tasks. Those of one task are sent one after the other. */
export interface Callbacks {
  /** sends the present state of a task; `body`: the task as GET has it */
  send(task: VideoTask, body: object): void
  /** all attempts since the start, oldest first; grows without limit */
  list(): VideoCallback[]
  /** resolves when no callback waits for its answer or its next attempt */
  settled(): Promise<void>
  stop(): void
}

/** What callbacks depend on. */
export interface CallbackSource {
  readonly timeoutMs: number
  /** the faults of the next callback */
  readonly faults: () => readonly AppliedFault[]
}

type OpenCallback = { -readonly [Field in keyof VideoCallback]: VideoCallback[Field] }

interface Delivery {
  readonly task: VideoTask
  readonly body: object
  readonly forged: boolean
}

/** The vendor repeats these; it sends the others once. */
const repeated: readonly string[] = ['succeeded', 'failed']
const ended: readonly string[] = ['succeeded', 'failed', 'expired', 'cancelled']

/** Creates the sender. */
export const createCallbacks = ({ timeoutMs, faults }: CallbackSource): Callbacks => {
  const sent: OpenCallback[] = []
  const chains = new Map<string, Promise<void>>()
  const held = new Map<string, Delivery>()
  const stopping = new AbortController()

  const post = async (url: string, body: string): Promise<number | undefined> => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping.signal])
    const headers = { 'content-type': 'application/json' }
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
      await response.body?.cancel()
      return response.status
    } catch {
      return undefined
    }
  }

  const deliver = async ({ task, body, forged }: Delivery): Promise<void> => {
    const url = task.request.callbackUrl ?? ''
    const attempts = repeated.includes(task.status) ? 3 : 1
    for (let attempt = 1; attempt <= attempts && !stopping.signal.aborted; attempt++) {
      const callback: OpenCallback = { taskId: task.id, url, body: JSON.stringify(body), attempt, forged }
      sent.push(callback)
      const status = await post(url, callback.body)
      if (status === undefined) continue
      callback.status = status
      if (status >= 200 && status < 300) return
    }
  }

  const queue = (delivery: Delivery): void => {
    const { id } = delivery.task
    const chain = (chains.get(id) ?? Promise.resolve()).then(() => deliver(delivery))
    chains.set(id, chain)
    void chain.then(() => chains.get(id) === chain && chains.delete(id))
  }

  const send = (task: VideoTask, body: object): void => {
    if (task.request.callbackUrl === undefined || stopping.signal.aborted) return
    const delivery: Delivery = { task, body, forged: false }
    let copies = 1
    let holds = false
    for (const { fault, hit } of faults()) {
      hit()
      if (fault.kind === 'lose-callback') copies = 0
      if (fault.kind === 'repeat-callback') copies += fault.copies ?? 1
      if (fault.kind === 'reorder-callback') holds = !ended.includes(task.status)
      if (fault.kind === 'forge-callback')
        queue({ task, body: { ...body, ...forgedFields, ...fault.body }, forged: true })
    }
    const earlier = held.get(task.id)
    held.delete(task.id)
    if (holds && copies > 0) held.set(task.id, delivery)
    else for (let copy = 0; copy < copies; copy++) queue(delivery)
    if (earlier !== undefined) queue(earlier)
  }

  return {
    send,
    list: () => sent.map((callback) => ({ ...callback })),
    async settled() {
      while (chains.size > 0) await Promise.all(chains.values())
    },
    stop: () => stopping.abort(),
  }
}

const forgedFields = {
  ...{ status: 'succeeded', error: null, content: { video_url: 'https://forged.example/video.mp4' } },
  usage: { completion_tokens: 1, total_tokens: 1 },
}
