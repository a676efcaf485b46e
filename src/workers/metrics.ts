import {
  type MetricsSnapshot,
  mergeSnapshots,
  processesSnapshot,
  readSnapshot,
  withoutGauges,
} from '../../plugins/metrics/snapshot.ts'

/** One end of the channel between the supervisor and a worker: a `ChildProcess`, or the `process` of the worker. */
export interface MessageChannel {
  readonly connected?: boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  send?(message: object, onSent?: (error: Error | null) => void): boolean
}

/** A request for metrics, and its response. `id` connects the two. */
type Message =
  | { readonly type: 'read metrics'; readonly id: number }
  | { readonly type: 'metrics'; readonly id: number; readonly snapshots: readonly MetricsSnapshot[] }

/** Reads metrics from the other end of a channel. Rejects if there is no response in time. */
type ReadMetrics = (timeoutMs: number) => Promise<readonly MetricsSnapshot[]>

/** Lets both ends of a channel read each other's metrics. @param own what the other end reads */
const connect = (channel: MessageChannel, own: () => Promise<readonly MetricsSnapshot[]>): ReadMetrics => {
  const pending = new Map<number, (snapshots: readonly MetricsSnapshot[]) => void>()
  let lastId = 0
  const send = (message: Message) => {
    // The other process may have ended. A callback keeps `send` from emitting that as an error event.
    if (channel.connected) channel.send?.(message, () => {})
  }
  channel.on('message', (received) => {
    const message = received as Message
    if (message?.type === 'metrics') pending.get(message.id)?.(message.snapshots)
    if (message?.type !== 'read metrics') return
    own().then(
      (snapshots) => send({ type: 'metrics', id: message.id, snapshots }),
      () => {},
    )
  })
  return (timeoutMs) => {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<readonly MetricsSnapshot[]>()
    const timeout = setTimeout(() => reject(new Error('the other process did not send its metrics')), timeoutMs)
    pending.set(id, resolve)
    send({ type: 'read metrics', id })
    return promise.finally(() => {
      clearTimeout(timeout)
      pending.delete(id)
    })
  }
}

/** How long the supervisor waits for each worker. */
const workerTimeoutMs = 1_000
/** How long a worker waits for the supervisor: longer than the supervisor waits for the workers. */
const supervisorTimeoutMs = 3 * workerTimeoutMs

/**
 * The supervisor's part: it gives each worker the metrics of all workers.
 *
 * A sum of counters must never fall: Prometheus reads a lower value as a restart from zero. So the supervisor keeps the
 * last values of each worker. They stand in for a worker that does not respond, which a gauge says. Its counters and
 * histograms remain in the sum after it has ended. Only what an ended worker has counted after the last scrape is lost.
 *
 * @param configured how many workers there should be
 */
export const createWorkerMetrics = (configured: number) => {
  const readers = new Map<MessageChannel, ReadMetrics>()
  const latest = new Map<MessageChannel, MetricsSnapshot>()
  let ended: Promise<MetricsSnapshot> = Promise.resolve([])

  const readAll = async (): Promise<readonly MetricsSnapshot[]> => {
    let unresponsive = 0
    await Promise.all(
      [...readers].map(async ([worker, read]) => {
        const [snapshot] = await read(workerTimeoutMs).catch(() => [])
        if (!readers.has(worker)) return
        if (snapshot) latest.set(worker, snapshot)
        else unresponsive++
      }),
    )
    return Promise.all([ended, ...latest.values(), processesSnapshot({ configured, unresponsive })])
  }

  return {
    add(worker: MessageChannel): void {
      readers.set(worker, connect(worker, readAll))
    },
    /** The worker has ended. */
    remove(worker: MessageChannel): void {
      const last = latest.get(worker)
      readers.delete(worker)
      latest.delete(worker)
      if (!last) return
      const before = ended
      ended = before.then((total) => readSnapshot(mergeSnapshots([total, withoutGauges(last)])))
    },
  }
}

/**
 * The worker's part: sends the metrics of this process when the supervisor asks. Returns a function that reads the
 * metrics of all workers.
 */
export const connectToSupervisor = (
  supervisor: MessageChannel,
  own: () => Promise<MetricsSnapshot>,
): (() => Promise<readonly MetricsSnapshot[]>) => {
  const read = connect(supervisor, async () => [await own()])
  return () => read(supervisorTimeoutMs)
}
