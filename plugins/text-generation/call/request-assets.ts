import type { Awaitable } from '../../shared/awaitable.ts'
import { runInTurns, runSteps } from '../../shared/background/turns.ts'
import type { Clock } from '../../shared/clock.ts'
import { disconnectionOf } from '../../shared/http/disconnection.ts'
import { notAuthenticated } from '../../shared/identity/identify.ts'
import { isLarge, type Json } from '../../shared/json/json.ts'
import type { AssetHoldRequest, AssetOwners, HeldAssets } from '../../shared/media/asset-ownership.ts'
import { withPlacedMedia } from '../../shared/media/placed-media.ts'
import { UpstreamRejectedError } from '../../shared/upstream/upstream-error.ts'
import { indexInTurns } from '../protocol/index-in-turns.ts'
import { TextProblem } from '../protocol/problem.ts'
import type { Call } from './call.ts'
import { clientTimeoutOf, Deadline } from './deadline.ts'

/** A request waits no longer for its assets. Clients and proxies have limits of their own. Milliseconds. */
const maxWaitMs = 30_000
/** A background response reads its assets within so long. Milliseconds. */
const backgroundMs = 900_000

interface AssetRequest
  extends Pick<AssetHoldRequest, 'user' | 'assets'>,
    Pick<Call, 'request' | 'arrivedAt' | 'whenRevoked'> {
  readonly hold: NonNullable<AssetOwners['hold']>
  readonly timeoutMs: number
  readonly clock: Clock
}

/** The assets that one request keeps at the upstream, which has ids of its own for them. */
export interface RequestAssets extends Disposable {
  /** The request with the ids of the upstream. */
  place(json: Json): Awaitable<Json>
  /** The error with the ids that the caller knows. */
  withOwnIds(error: unknown): unknown
  /** They stay until `onEnd`. */
  continueWithStream(): void
  /** The response has ended. `inBackground`: the upstream goes on with it. */
  onEnd(inBackground: boolean): void
}

/** Of a request whose assets stay at the upstream anyway. */
export const noRequestAssets: RequestAssets = {
  place: (json) => json,
  withOwnIds: (error) => error,
  continueWithStream() {},
  onEnd() {},
  [Symbol.dispose]() {},
}

/**
 * Waits until the assets of a request are at the upstream: no longer than the request may take.
 *
 * Throws TextProblem 503 with `Retry-After` when that takes too long, Problem 401 when the caller's credential is
 * revoked meanwhile, and as `hold` does.
 */
export const holdAssets = async (asset: AssetRequest): Promise<RequestAssets> => {
  const { hold, user, assets, request, arrivedAt, whenRevoked, timeoutMs, clock } = asset
  const limitAt = arrivedAt + Math.min(timeoutMs, clientTimeoutOf(request.headers))
  const at = Math.min(clock.now() + maxWaitMs, limitAt)
  using deadline = new Deadline({ clock, at, caller: disconnectionOf(request), ...(whenRevoked && { whenRevoked }) })
  try {
    const held = await hold({ user, assets, signal: deadline.signal })
    return held ? new HeldRequestAssets(held, clock) : noRequestAssets
  } catch (error) {
    if (deadline.revoked) throw notAuthenticated()
    throw deadline.passed ? notReady() : error
  }
}

class HeldRequestAssets implements RequestAssets {
  readonly #held: HeldAssets
  readonly #clock: Pick<Clock, 'now'>
  #continues = false

  constructor(held: HeldAssets, clock: Pick<Clock, 'now'>) {
    this.#held = held
    this.#clock = clock
  }

  place(json: Json): Awaitable<Json> {
    const steps = withPlacedMedia(json, this.#held.placed)
    return isLarge(json)
      ? runInTurns(steps).then((placed) => (placed === json ? json : indexInTurns(placed)))
      : runSteps(steps)
  }

  withOwnIds(error: unknown): unknown {
    if (!(error instanceof UpstreamRejectedError)) return error
    const text = new TextDecoder().decode(error.response.bytes)
    let changed = text
    for (const [own, upstreamId] of this.#held.placed) changed = changed.replaceAll(upstreamId, own)
    return changed === text
      ? error
      : new UpstreamRejectedError({ ...error.response, bytes: new TextEncoder().encode(changed) })
  }

  continueWithStream(): void {
    this.#continues = true
  }

  onEnd(inBackground: boolean): void {
    if (inBackground) this.#held.endAt(this.#clock.now() + backgroundMs)
    else this.#held.end()
  }

  [Symbol.dispose](): void {
    if (!this.#continues) this.#held.end()
  }
}

const notReady = (): TextProblem =>
  new TextProblem(503, 'assets of the request are not at the upstream yet: send it again', {
    code: 'assets_not_ready',
    headers: { 'retry-after': '5' },
  })
