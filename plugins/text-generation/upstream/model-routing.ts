/**
 * Limitations of an upstream or of one model. Those that the upstream reports in its errors need not be configured: see
 * `callUpstream` and `limitationIn`.
 */
export interface Capabilities {
  /** Maximum `temperature`, 1 or 2. Default 2. */
  readonly maxTemperature?: 1 | 2
  /** False: it does not stream. At the time limit there is then no partial response. Default true. */
  readonly streams?: boolean
  /** False: it does not support `stream_options`, so streams have no usage and count as unreported. Default true. */
  readonly reportsUsage?: boolean
  /** True: it has no `/responses`. The gateway then bridges responses to chat completions. Default: the gateway finds out. */
  readonly chatOnly?: boolean
}

/** A service with the OpenAI protocols. */
export interface TextUpstream extends Capabilities {
  /** Base URL, usually with `/v1` at its end, and without a slash there: paths such as `/chat/completions` follow it. */
  readonly url: string
  /** Bearer key. Undefined: the gateway sends none. */
  readonly key?: string
  /**
   * Models that it serves, optionally with limitations of their own. Undefined: it serves all models that no other
   * upstream names.
   */
  readonly models?: readonly (string | ({ readonly id: string } & Capabilities))[]
}

/** The upstream of a model, and the limitations of the two. */
export interface ModelRoute extends Capabilities {
  readonly upstream: TextUpstream
}

/** Finds the upstreams of models. */
export interface ModelRouting {
  readonly upstreams: readonly TextUpstream[]
  /**
   * The upstream of a model.
   *
   * The first upstream that names the model serves it. If none does, the first upstream without a model list serves it,
   * or else the first of all. Undefined when there is no upstream.
   */
  routeOf(model: string): ModelRoute | undefined
}

/** Creates the routing. The routes are created once, so that a request only looks one up. */
export const createModelRouting = (upstreams: readonly TextUpstream[]): ModelRouting => {
  const named = new Map<string, ModelRoute>()
  for (const upstream of upstreams) {
    for (const entry of upstream.models ?? []) {
      const { id, ...capabilities } = typeof entry === 'string' ? { id: entry } : entry
      if (!named.has(id)) named.set(id, { ...capabilitiesOf(upstream), ...capabilities, upstream })
    }
  }
  const upstream = upstreams.find(({ models }) => models === undefined) ?? upstreams[0]
  const others = upstream && { ...capabilitiesOf(upstream), upstream }
  return { upstreams, routeOf: (model) => named.get(model) ?? others }
}

const capabilitiesOf = ({ maxTemperature, streams, reportsUsage, chatOnly }: Capabilities): Capabilities => ({
  maxTemperature,
  streams,
  reportsUsage,
  chatOnly,
})
