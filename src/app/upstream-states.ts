/** The state of each upstream, in words, from its latest call. */
export interface UpstreamStates {
  /** Call this after a call to the upstream of the asset library. Status 0: there was no response. */
  assets(status: number): void
  /** The same for an upstream of text generation. */
  text(name: string, call: { readonly status: number; readonly keyRejected: boolean }): void
  /** The same for the upstream of video generation. */
  video(call: { readonly status: number; readonly keyRejected: boolean }): void
  /**
   * The states: `assets`, `video`, `text` (all upstreams of text generation together: as good as the best of them), and
   * `text NAME` for each.
   */
  all(): Readonly<Record<string, string>>
}

export const createUpstreamStates = (configured: {
  readonly assets: boolean
  /** Names of the upstreams of text generation. */
  readonly texts: readonly string[]
  readonly video: boolean
}): UpstreamStates => {
  let assets: State = 'not called yet'
  let video: State = 'not called yet'
  const texts = new Map<string, State>(configured.texts.map((name) => [name, 'not called yet']))
  return {
    assets: (status) => {
      assets = stateOf(status, status === 401)
    },
    video: ({ status, keyRejected }) => {
      video = stateOf(status, keyRejected)
    },
    text: (name, { status, keyRejected }) => void texts.set(name, stateOf(status, keyRejected)),
    all() {
      const best = stateWords.find((word) => [...texts.values()].includes(word))
      return {
        assets: configured.assets ? assets : notConfigured,
        text: best ?? notConfigured,
        video: configured.video ? video : notConfigured,
        ...Object.fromEntries([...texts].map(([name, state]) => [`text ${name}`, state])),
      }
    },
  }
}

const notConfigured = 'not configured'

/** The best first. */
const stateWords = ['reachable', 'not called yet', "rejects the gateway's key", 'unreachable'] as const

type State = (typeof stateWords)[number]

const stateOf = (status: number, keyRejected: boolean): State => {
  if (status === 0) return 'unreachable'
  return keyRejected ? "rejects the gateway's key" : 'reachable'
}
