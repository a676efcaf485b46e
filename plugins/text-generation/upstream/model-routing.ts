/**
 * Limitations of an upstream or of one model. Those that the upstream reports in its errors need not be configured: see
 * `callUpstream`.
 */
export interface Capabilities {
  /** Maximum `temperature`, 1 or 2. Default 2. */
  readonly maxTemperature?: 1 | 2
  /** False: it does not stream. At the time limit there is then no partial response. Default true. */
  readonly streams?: boolean
  /** False: it does not support `stream_options`, so streams have no usage and count as unreported. Default true. */
  readonly reportsUsage?: boolean
  /** True: it has no `/responses`. The gateway then bridges responses to chat completions. Default false. */
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

/**
 * Finds the upstream of a model.
 *
 * The first upstream that names the model serves it. If none does, the first upstream without a model list serves it,
 * or else the first of all. Undefined when the list is empty.
 */
export const routeModel = (upstreams: readonly TextUpstream[], model: string): ModelRoute | undefined => {
  for (const upstream of upstreams) {
    const named = upstream.models?.find((entry) => idOf(entry) === model)
    if (named !== undefined) return { ...capabilitiesOf(upstream), ...(typeof named === 'object' && named), upstream }
  }
  const upstream = upstreams.find(({ models }) => models === undefined) ?? upstreams[0]
  return upstream && { ...capabilitiesOf(upstream), upstream }
}

const idOf = (entry: string | { readonly id: string }): string => (typeof entry === 'string' ? entry : entry.id)

const capabilitiesOf = ({ maxTemperature, streams, reportsUsage, chatOnly }: Capabilities): Capabilities => ({
  maxTemperature,
  streams,
  reportsUsage,
  chatOnly,
})
