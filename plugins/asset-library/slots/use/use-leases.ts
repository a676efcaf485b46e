import type { SlotOptions } from '../options.ts'
import type { SlotLibrary } from '../slots.ts'

/** How long the assets of a request keep their slots after the end of its process. Milliseconds. */
const leaseMs = 60_000
/** Milliseconds between two renewals. */
const renewMs = 20_000

interface UseLeasesOptions {
  readonly store: Pick<SlotOptions['store'], 'renewAssetUses' | 'endAssetUse'>
  readonly library: Pick<SlotLibrary, 'clock' | 'log'>
}

/**
 * The uses of assets by the requests of this process. What a killed process has used may leave the upstream when its
 * leases have ended.
 */
export class UseLeases {
  readonly #store: UseLeasesOptions['store']
  readonly #library: UseLeasesOptions['library']
  readonly #onEnd: () => void
  readonly #held = new Set<string>()
  #cancelRenewal: (() => void) | undefined

  /** @param onEnd called when a use has ended: its assets may lose their slots */
  constructor({ store, library }: UseLeasesOptions, onEnd: () => void) {
    this.#store = store
    this.#library = library
    this.#onEnd = onEnd
  }

  /** The end of a lease that begins now. */
  leaseUntil(now: number): number {
    return now + leaseMs
  }

  /** Renews the lease of a use until it ends. */
  begin(id: string): void {
    this.#held.add(id)
    if (!this.#cancelRenewal) this.#renewLater()
  }

  /** Ends a use, also one that waits. If the store fails, its lease ends by itself. Never throws. */
  end(id: string): void {
    this.#forget(id)
    void this.#store
      .endAssetUse(id)
      .catch((err: unknown) => this.#library.log.warn({ err }, 'the use of assets could not be ended'))
      .then(this.#onEnd)
  }

  /** The use ends at a time. Never throws. */
  endAt(id: string, time: number): void {
    this.#forget(id)
    void this.#store
      .renewAssetUses([id], time)
      .catch((err: unknown) => this.#library.log.warn({ err }, 'the use of assets could not be continued'))
  }

  #forget(id: string): void {
    this.#held.delete(id)
    if (this.#held.size > 0) return
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
  }

  #renewLater(): void {
    const { clock } = this.#library
    const cancel = clock.at(clock.now() + renewMs, () => void this.#renew(cancel))
    this.#cancelRenewal = cancel
  }

  async #renew(timer: () => void): Promise<void> {
    const { clock, log } = this.#library
    try {
      await this.#store.renewAssetUses([...this.#held], clock.now() + leaseMs)
    } catch (err) {
      log.warn({ err }, 'the uses of assets could not be renewed')
    }
    // Else the last use has ended meanwhile, and perhaps another one has begun.
    if (this.#cancelRenewal === timer) this.#renewLater()
  }
}
