/** What an upstream, or one of its models, does otherwise than most. Where that shows in its refusals it need not be said: see `ask`. */
export interface Capabilities {
  /** Highest temperature that is accepted, 1 or 2. Default 2. */
  readonly maxTemperature?: 1 | 2
  /** False: it cannot stream, and is called plainly; a call that is cut off at the time limit then has nothing to show. Default true. */
  readonly streams?: boolean
  /** False: streams carry no usage on request (`stream_options` is not understood), so calls count as unreported. Default true. */
  readonly reportsUsage?: boolean
  /** True: there is no `/responses`, which is then bridged to chat completions. Default false. */
  readonly chatOnly?: boolean
}

/** A service that speaks the protocols of the text generation document. */
export interface TextUpstream extends Capabilities {
  /** Its address, which ends with `/v1`. */
  readonly url: string
  /** Bearer key. Undefined: none is sent. */
  readonly key?: string
  /** Models that it serves, each perhaps with peculiarities of its own. Undefined: all that no upstream in the list names. */
  readonly models?: readonly (string | ({ readonly id: string } & Capabilities))[]
}

/** Where a model is served, and what is peculiar to it there. */
export interface ModelRoute extends Capabilities {
  readonly upstream: TextUpstream
}

/**
 * Finds where a model is served: by the first upstream that names it, else by the default, which is the first that names no models, or the first of all.
 * Undefined when the list is empty.
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
