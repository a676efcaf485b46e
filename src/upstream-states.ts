/** The state of each upstream, in words, from the statuses of its latest call. */
export interface UpstreamStates {
  /** Call this after a call to the upstream of the asset library. Status 0: there was no response. */
  assets(status: number): void
  /** The same for an upstream of text generation. */
  text(name: string, status: number): void
  /**
   * The states: `assets`, `text` (all upstreams of text generation together: as good as the best of them), and `text NAME` for each.
   */
  all(): Readonly<Record<string, string>>
}

export const createUpstreamStates = (configured: {
  readonly assets: boolean
  /** Names of the upstreams of text generation. */
  readonly texts: readonly string[]
}): UpstreamStates => {
  let assets: number | undefined
  const texts = new Map<string, number | undefined>(configured.texts.map((name) => [name, undefined]))
  return {
    assets: (status) => {
      assets = status
    },
    text: (name, status) => void texts.set(name, status),
    all() {
      const states = [...texts].map(([name, status]) => [`text ${name}`, stateOf(status)] as const)
      const best = stateWords.find((word) => states.some(([, state]) => state === word))
      return {
        assets: configured.assets ? stateOf(assets) : notConfigured,
        text: best ?? notConfigured,
        ...Object.fromEntries(states),
      }
    },
  }
}

const notConfigured = 'not configured'

/** The best first. */
const stateWords = ['reachable', 'not called yet', "rejects the gateway's key", 'unreachable'] as const

const stateOf = (status: number | undefined): (typeof stateWords)[number] => {
  if (status === undefined) return 'not called yet'
  if (status === 0) return 'unreachable'
  return status === 401 ? "rejects the gateway's key" : 'reachable'
}
