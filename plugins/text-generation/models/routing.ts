/** Fields of chat completions for the maximum of the output. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens'

/**
 * Limitations of an upstream or of one model. Those that the upstream reports in its errors need not be configured: see
 * `callWithAdditions` and `limitationIn`.
 */
export interface Capabilities {
  /** Maximum `temperature`, 1 or 2. Default 2. */
  readonly maxTemperature?: 1 | 2
  /**
   * Maximum of the output that a request may set, in tokens. A larger one is lowered to it. Default: none is lowered.
   */
  readonly maxTokens?: number
  /**
   * The field of chat completions for that maximum. The other one is renamed. Default: both pass, and the gateway finds
   * out.
   */
  readonly maxTokensField?: MaxTokensField
  /** False: it does not stream. At the time limit there is then no partial response. Default true. */
  readonly streams?: boolean
  /** False: it does not support `stream_options`, so streams have no usage and count as unreported. Default true. */
  readonly reportsUsage?: boolean
  /**
   * True: it has no `/responses`. The gateway then bridges responses to chat completions. Default: the gateway finds
   * out.
   */
  readonly chatOnly?: boolean
  /**
   * What the bridge does with a tool that the upstream would run, such as `web_search`: leave it out and name it in the
   * response header `x-dropped-tools`, or respond with 400 that names it. Default `drop`: a tool in a request is an
   * offer, and agents offer some in every request. But a Messages request with no other tools is then a 400, too,
   * unless `drop` is given: agents search the web with such a request, and would take what the model invents for what
   * was found.
   */
  readonly hostedTools?: 'reject' | 'drop'
}

/** A model of an upstream, and its limitations. */
export interface UpstreamModel extends Capabilities {
  /** The upstream's name of the model. */
  readonly id: string
  /** The name that callers use instead of `id`, which they then cannot use. It may contain slashes. Default: `id`. */
  readonly alias?: string
  /** For lists of models: who owns the model. Default: what the upstream says, or its `name`. */
  readonly ownedBy?: string
  /** For lists of models: maximum length of input and output together, in tokens. Default: what the upstream says. */
  readonly contextLength?: number
}

/** A service with the OpenAI protocols. */
export interface TextUpstream extends Capabilities {
  /**
   * Base URL without a slash at its end, for example `https://api.example/v1`. Paths such as `/chat/completions` follow
   * it.
   */
  readonly url: string
  /** For logs, metrics and health. Default: the host of `url`. */
  readonly name?: string
  /** The account's key. Undefined: the gateway sends none. */
  readonly key?: string
  /** The header for the key, for example `api-key`. Default: `authorization`, as a bearer token. */
  readonly keyHeader?: string
  /**
   * Further headers of every request. Values of headers for credentials, such as `authorization`, are kept out of
   * responses as the key is.
   */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Models that it serves, optionally with limitations of their own. Undefined: it serves all models that no other
   * upstream names.
   */
  readonly models?: readonly (string | UpstreamModel)[]
  /**
   * Whether it takes over a request when the upstreams before it that serve the model refuse the connection, or respond
   * 503 with `Retry-After`. Default false.
   */
  readonly failover?: boolean
}

/** The upstream of a model, and the limitations of the two. */
export interface ModelRoute extends Capabilities {
  readonly upstream: TextUpstream
  /** The upstream's name of the model. Undefined: the caller's. */
  readonly id?: string
  /** What the configuration says about the model. Undefined: it does not name the model. */
  readonly model?: UpstreamModel
}

/** Finds the upstreams of models. */
export interface ModelRouting {
  readonly upstreams: readonly TextUpstream[]
  /** The models that the configuration names, by the names that callers use: first the upstream that is asked. */
  readonly named: ReadonlyMap<string, readonly ModelRoute[]>
  /**
   * The upstreams of a model, by the name that callers use: first the one that is asked, then those that may take over.
   *
   * The first upstream that names the model serves it. If none does, the first upstream without a model list serves it,
   * or else the first of all. Empty when there is no upstream, and for the `id` of a model that has an alias: limits,
   * prices and tokens go by the names that callers use, so a model has no further one.
   */
  routesOf(model: string): readonly ModelRoute[]
}

/** Creates the routing. The routes are created once, so that a request only looks them up. */
export const createModelRouting = (upstreams: readonly TextUpstream[]): ModelRouting => {
  const named = new Map<string, ModelRoute[]>()
  for (const upstream of upstreams) {
    for (const entry of upstream.models ?? []) {
      const model: UpstreamModel = typeof entry === 'string' ? { id: entry } : entry
      const { id, alias = id } = model
      const routes = named.get(alias)
      const capabilities = { ...capabilitiesOf(upstream), ...capabilitiesOf(model) }
      const route = { ...capabilities, id: alias === id ? undefined : id, model, upstream }
      if (!routes) named.set(alias, [route])
      else if (upstream.failover) routes.push(route)
    }
  }
  const general = upstreams.filter(({ models }) => models === undefined)
  const [first, ...further] = general.length > 0 ? general : upstreams.slice(0, 1)
  const others = first ? [first, ...further.filter(({ failover }) => failover)] : []
  const otherRoutes = others.map((upstream) => ({ ...capabilitiesOf(upstream), upstream }))
  const withAlias = new Set<string>()
  for (const routes of named.values()) for (const { id } of routes) if (id !== undefined) withAlias.add(id)
  return {
    upstreams,
    named,
    routesOf: (model) => named.get(model) ?? (withAlias.has(model) ? noRoutes : otherRoutes),
  }
}

const noRoutes: readonly ModelRoute[] = []

const names = new WeakMap<TextUpstream, string>()

/** The name of an upstream in logs, metrics and health. */
export const nameOf = (upstream: TextUpstream): string => {
  const name = names.get(upstream) ?? upstream.name ?? new URL(upstream.url).host
  names.set(upstream, name)
  return name
}

/** The capabilities that are set, so that those of a model can override those of its upstream. */
const capabilitiesOf = (source: Capabilities): Capabilities =>
  Object.fromEntries(
    capabilityNames.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]] as const])),
  )

const capabilityNames = [
  'maxTemperature',
  'maxTokens',
  'maxTokensField',
  'streams',
  'reportsUsage',
  'chatOnly',
  'hostedTools',
] as const satisfies readonly (keyof Capabilities)[]
