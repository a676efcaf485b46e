import { type Clock, systemClock } from '../../../plugins/shared/clock.ts'
import { CallHistory, type CallReport, callStates, type ObservedCall } from './call-history.ts'

/** What is known of each upstream, from the calls of this process. */
export interface UpstreamStates {
  /**
   * Call this after a call to the upstream of the asset library, or to one of its accounts. Status 0: there was no
   * response.
   */
  assets(status: number, account?: string): void
  /** The same for an upstream of text generation. */
  text(name: string, call: ObservedCall): void
  /** The same for the upstream of video generation. */
  video(call: ObservedCall): void
  /** Call this for each read of the asset library that failed: it was sent again, or was not, to spare the upstream. */
  retry(outcome: 'sent' | 'refused'): void
  /** How many there were of each. */
  readonly retries: Readonly<Record<'sent' | 'refused', number>>
  /**
   * The states: `assets`, `video`, `text` (all upstreams of text generation together: as good as the best of them), and
   * `text NAME` for each. With several accounts of the asset library, `assets` is as bad as the worst of them that was
   * called, and `assets NAME` is the state of each.
   */
  all(): Readonly<Record<string, string>>
  /** The configured upstreams, with their calls of the last minute. */
  reports(): readonly UpstreamCallReport[]
}

/** What is known of one upstream. */
export interface UpstreamCallReport extends CallReport {
  /** As in `all`. */
  readonly name: string
  readonly family: 'assets' | 'text' | 'video'
  /** The name of the account of the asset library. Undefined: it has one. */
  readonly account?: string
}

export const createUpstreamStates = (
  configured: {
    /** Whether there is an upstream of the asset library, or the names of its accounts. */
    readonly assets: boolean | readonly string[]
    /** Names of the upstreams of text generation. */
    readonly texts: readonly string[]
    readonly video: boolean
  },
  clock: Pick<Clock, 'now'> = systemClock,
): UpstreamStates => {
  const accountNames = typeof configured.assets === 'boolean' ? [] : configured.assets
  const accounts = new Map(accountNames.map((name) => [name, new CallHistory(clock)]))
  const assets = new CallHistory(clock)
  const video = new CallHistory(clock)
  const retries = { sent: 0, refused: 0 }
  const texts = new Map(configured.texts.map((name) => [name, new CallHistory(clock)]))
  return {
    assets: (status, account) => (accounts.get(account ?? '') ?? assets).add({ status, keyRejected: status === 401 }),
    video: (call) => video.add(call),
    retry: (outcome) => void retries[outcome]++,
    retries,
    text: (name, call) => texts.get(name)?.add(call),
    all() {
      const best = callStates.find((word) => [...texts.values()].some(({ state }) => state === word))
      const worst = callStates.findLast((word) => [...accounts.values()].some(({ state }) => state === word))
      return {
        assets: worst ?? (configured.assets ? assets.state : notConfigured),
        text: best ?? notConfigured,
        video: configured.video ? video.state : notConfigured,
        ...Object.fromEntries([...accounts].map(([name, { state }]) => [`assets ${name}`, state])),
        ...Object.fromEntries([...texts].map(([name, { state }]) => [`text ${name}`, state])),
      }
    },
    reports: () => [
      ...(configured.assets === true ? [{ name: 'assets', family: 'assets' as const, ...assets.report() }] : []),
      ...[...accounts].map(([name, history]) => ({
        ...{ name: `assets ${name}`, family: 'assets' as const, account: name, ...history.report() },
      })),
      ...[...texts].map(([name, history]) => ({ name: `text ${name}`, family: 'text' as const, ...history.report() })),
      ...(configured.video ? [{ name: 'video', family: 'video' as const, ...video.report() }] : []),
    ],
  }
}

const notConfigured = 'not configured'
