/** What a target does at an offered rate. */
export interface RatePoint {
  /** Requests per second that were offered, and answered. */
  readonly offered: number
  readonly answered: number
  readonly failed: number
  /** The 99th percentile of the added time, in milliseconds. */
  readonly added: number
}

export interface RateSearch {
  /** The lowest and the highest rate that is offered. */
  readonly from: number
  readonly to: number
  /** The search ends when a failing rate is at most this multiple of a passing one. */
  readonly within: number
}

/** The part of the offered rate that a target must answer in time. */
const answeredPart = 0.95

export const passes = ({ offered, answered, failed, added }: RatePoint, bound: number): boolean =>
  failed === 0 && answered >= answeredPart * offered && added <= bound

/**
 * The highest rate that keeps each of the bounds on the added time. 0: not even the lowest rate does. Doubles the rate until it breaks the widest bound, and
 * halves the ratio between the highest passing and the next failing rate of each bound. Other load on the machine only makes a point worse, so that a failing one is
 * measured twice, and the better measurement counts.
 */
export const ratesWithin = async (
  bounds: readonly number[],
  search: RateSearch,
  measure: (offered: number) => Promise<RatePoint>,
): Promise<readonly number[]> => {
  const points: RatePoint[] = []
  const tryAt = async (offered: number, bound: number): Promise<boolean> => {
    const first = await measure(offered)
    const point = passes(first, bound) ? first : better(first, await measure(offered), bound)
    points.push(point)
    return passes(point, bound)
  }
  const widest = Math.max(...bounds)
  for (let offered = search.from; offered <= search.to && (await tryAt(offered, widest)); offered *= 2);
  const found = new Map<number, number>()
  for (const bound of bounds.toSorted((a, b) => b - a)) {
    for (;;) {
      const low = Math.max(0, ...points.filter((point) => passes(point, bound)).map(({ offered }) => offered))
      const high = Math.min(...points.filter(({ offered }) => offered > low).map(({ offered }) => offered))
      if (low === 0 || high === Number.POSITIVE_INFINITY || high / low <= search.within) break
      await tryAt(Math.sqrt(low * high), bound)
    }
    const passing = points.filter((point) => passes(point, bound)).map(({ answered }) => answered)
    found.set(bound, Math.max(0, ...passing))
  }
  return bounds.map((bound) => found.get(bound) ?? 0)
}

const better = (first: RatePoint, second: RatePoint, bound: number): RatePoint =>
  passes(second, bound) || (second.failed <= first.failed && second.added < first.added) ? second : first
