/** The time that the calls of one request have waited for rate limit permits. Concurrent waits count once. */
export class QueueTime {
  #endedMs = 0
  #waits = 0
  #since = 0

  begin(now: number): void {
    if (this.#waits++ === 0) this.#since = now
  }

  end(now: number): void {
    if (--this.#waits === 0) this.#endedMs += now - this.#since
  }

  /** Milliseconds up to `now`, including waits that have not ended. */
  totalMs(now: number): number {
    return this.#endedMs + (this.#waits > 0 ? now - this.#since : 0)
  }
}

const queueTime = Symbol('queueTime')

/** The queue time of a request. All callers for the same request share it. */
export const queueTimeOf = (request: Request & { [queueTime]?: QueueTime }): QueueTime => {
  request[queueTime] ??= new QueueTime()
  return request[queueTime]
}
