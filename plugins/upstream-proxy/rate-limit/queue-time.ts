/** How long one request has waited for places, however many calls it makes. Waits at the same time count once. */
export class QueueTime {
  #ended = 0
  #waits = 0
  #since = 0

  begin(now: number): void {
    if (this.#waits++ === 0) this.#since = now
  }

  end(now: number): void {
    if (--this.#waits === 0) this.#ended += now - this.#since
  }

  /** In milliseconds, waits that go on included. */
  until(now: number): number {
    return this.#ended + (this.#waits > 0 ? now - this.#since : 0)
  }
}

const waited = Symbol('waited')

/** That of a request: the same for all who ask on its behalf. */
export const queueTimeOf = (request: Request & { [waited]?: QueueTime }): QueueTime => {
  request[waited] ??= new QueueTime()
  return request[waited]
}
