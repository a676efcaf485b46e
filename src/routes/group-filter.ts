import { ListChangedError } from '../../plugins/pagination-normalizer/index.ts'
import type { Clock } from '../../plugins/shared/clock.ts'
import { declareOwned } from '../../plugins/shared/owned-id.ts'
import { type Caller, itemsOf, type Upstream, UpstreamRejectedError } from '../../plugins/upstream-proxy/index.ts'

/** How long the result of a check is valid. Milliseconds. */
const validMs = 600_000

/** A group that no user owns and no upstream creates: its date is before the service. */
export const nobodysGroup = declareOwned('group', { id: 'group-19700101000000-00000' })

/**
 * Checks that the upstream applies `GroupIds`. Only then a total counts the caller's assets alone: a page that is full of them does not show what the
 * total counts beyond it.
 */
export class GroupFilterCheck {
  readonly #upstream: Upstream
  readonly #clock: Pick<Clock, 'now'>
  /** By type of the groups. */
  readonly #validUntil = new Map<string, number>()
  readonly #running = new Map<string, Promise<void>>()

  constructor(upstream: Upstream, clock: Pick<Clock, 'now'>) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /** Asks the upstream for the assets of a group that does not exist, if that has not been done recently. Throws ListChangedError if there are some. */
  check(groupType: string, { headers, user }: Caller): Promise<void> | undefined {
    if (this.#clock.now() < (this.#validUntil.get(groupType) ?? 0)) return undefined
    const running = this.#running.get(groupType)
    if (running) return running
    // Other requests wait for the same check, so it does not end with this one.
    const started = this.#ask(groupType, { headers, user }).finally(() => this.#running.delete(groupType))
    this.#running.set(groupType, started)
    return started
  }

  /** The upstream has listed assets that a request did not ask for: earlier checks are no longer valid. */
  distrust(): void {
    this.#validUntil.clear()
  }

  async #ask(groupType: string, caller: Caller): Promise<void> {
    const paging = { pageNumber: 1, pageSize: 1 }
    const query = { groupType, groups: [nobodysGroup], sortBy: 'CreateTime', sortOrder: 'Desc', paging } as const
    try {
      const response = await this.#upstream.send({ action: 'ListAssets', query }, caller)
      const total = response.json?.get('Result')?.get('TotalCount')?.value() ?? 0
      if (itemsOf(response).length > 0 || total !== 0)
        throw new ListChangedError('the upstream lists assets of a group that does not exist')
    } catch (error) {
      // An upstream that rejects an unknown group reads the filter: another gateway of this kind responds with 403.
      if (!(error instanceof UpstreamRejectedError && unknownGroup.has(error.status))) throw error
    }
    this.#validUntil.set(groupType, this.#clock.now() + validMs)
  }
}

const unknownGroup: ReadonlySet<number> = new Set([400, 403, 404])
