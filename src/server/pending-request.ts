import { PromisedTurn } from '../../plugins/shared/http/turn/promised-turn.ts'
import type { BunWebSocketData } from '../../plugins/shared/http/web-socket.ts'

/**
 * A request that the app handles. Address and timer are used only on demand, because they cost more than most
 * rejections.
 */
export class PendingRequest extends PromisedTurn {
  readonly request: Request
  readonly #server: Bun.Server<BunWebSocketData>
  #address: string | undefined
  hasResponse = false
  isTimerOff = false
  /** Whether the app waits for the body, for which `watchBody` sets the timer. */
  isReading = false

  constructor(request: Request, server: Bun.Server<BunWebSocketData>) {
    super()
    this.request = request
    this.#server = server
  }

  /** Bun knows the address only as long as the connection is open. */
  get address(): string | undefined {
    this.#address ??= this.#server.requestIP(this.request)?.address
    return this.#address
  }

  /** Whether the caller has disconnected. */
  get hasLeft(): boolean {
    return this.#server.requestIP(this.request) === null
  }

  /**
   * Called in the turn after the request arrived. Without a response by then, it reads the address, because the caller
   * may disconnect later, and turns the idle timer off.
   */
  keepOpen(): void {
    if (this.hasResponse) return
    this.isTimerOff = true
    void this.address
    // A request may take longer than Bun's longest idle timeout. The app has its own deadline.
    if (!this.isReading) this.#server.timeout(this.request, 0)
  }
}
