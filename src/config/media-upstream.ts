import { type ArkOptions, ark } from '../../plugins/upstream-proxy/library/ark.ts'
import { arkLimits } from '../../plugins/upstream-proxy/library/ark-limits.ts'
import type { MediaKind } from '../../plugins/upstream-proxy/library/operation.ts'
import { type RestOptions, rest } from '../../plugins/upstream-proxy/library/rest.ts'
import {
  address,
  key,
  oneOf,
  printableForm,
  rateLimitList,
  segment,
  segmentForm,
  webAddress,
} from './environment/parsers.ts'
import type { Environment, Read } from './environment/reader.ts'

/** Rate limits: calls per second by action. An action without an entry has no limit. */
export type RateLimitSettings = Readonly<Record<string, number>>

/** The settings of each kind of upstream, under the name that `MEDIA_UPSTREAM_KIND` takes. */
interface KindSettings {
  readonly rest: RestOptions
  readonly ark: Required<Pick<ArkOptions, 'url' | 'accessKey' | 'secretKey' | 'region' | 'project'>>
}

/** The name of a kind of upstream. */
export type MediaKindName = keyof KindSettings

type UpstreamOf<Name extends MediaKindName> = { readonly kind: Name } & KindSettings[Name]

/** The upstream of the asset library: its kind, address and credentials. */
export type MediaUpstream = { [Name in MediaKindName]: UpstreamOf<Name> }[MediaKindName]

/** What the server must know about a kind of upstream. */
interface KindDefinition<Name extends MediaKindName> {
  /** The limits when `MEDIA_UPSTREAM_LIMITS` is unset. */
  readonly defaultLimits: RateLimitSettings
  /** Reads the settings. `required` reads a credential, without which an upstream with an address is a problem. */
  read(url: string, read: Read, required: (name: string) => string): UpstreamOf<Name>
  create(upstream: UpstreamOf<Name>): MediaKind
}

const definitions: { readonly [Name in MediaKindName]: KindDefinition<Name> } = {
  rest: {
    defaultLimits: {},
    read: (url, _, required) => ({ kind: 'rest', url, key: required('MEDIA_UPSTREAM_KEY') }),
    create: rest,
  },
  ark: {
    defaultLimits: arkLimits,
    read: (url, read, required) => ({
      kind: 'ark',
      url,
      accessKey: required('MEDIA_UPSTREAM_ACCESS_KEY'),
      secretKey: required('MEDIA_UPSTREAM_SECRET_KEY'),
      region: read('MEDIA_UPSTREAM_REGION', segmentForm, segment) ?? 'cn-beijing',
      project: read('MEDIA_UPSTREAM_PROJECT', printableForm, key) ?? 'default',
    }),
    create: ark,
  },
}

const kindNames = Object.keys(definitions) as readonly MediaKindName[]

/** Creates the kind that the upstream's client needs. */
export const createMediaKind = <Name extends MediaKindName>(upstream: UpstreamOf<Name>): MediaKind =>
  definitions[upstream.kind].create(upstream)

/** Reads the upstream of the asset library, and its limits. Undefined without an address: there is no upstream. */
export const readMediaUpstream = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
): { readonly upstream: MediaUpstream | undefined; readonly limits: RateLimitSettings } => {
  const kind = read('MEDIA_UPSTREAM_KIND', `must be ${kindNames.join(' or ')}`, oneOf(kindNames)) ?? 'rest'
  const url = read('MEDIA_UPSTREAM_URL', webAddress, address)
  const required = (name: string): string => {
    if (env.MEDIA_UPSTREAM_URL && !env[name]) addProblem(`${name} is required for a MEDIA_UPSTREAM_URL of kind ${kind}`)
    return read(name, printableForm, key) ?? ''
  }
  const definition = definitions[kind]
  const upstream = definition.read(url ?? '', read, required)
  const limits = read('MEDIA_UPSTREAM_LIMITS', limitsForm, rateLimitList) ?? definition.defaultLimits
  return { upstream: url === undefined ? undefined : upstream, limits }
}

const limitsForm = 'must be a JSON object of action names and calls per second above 0'

/** The credentials of an upstream, and the texts that identify its account. No log line may contain one. */
export const mediaSecrets = (upstream: MediaUpstream | undefined): readonly string[] => {
  if (!upstream) return []
  const { secrets, accountIds = [] } = createMediaKind(upstream)
  return [...accountIds, ...secrets]
}
