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
  /** Reads those of an entry of `MEDIA_UPSTREAMS`. */
  readEntry(entry: KindEntry): UpstreamOf<Name>
  create(upstream: UpstreamOf<Name>): MediaKind
}

const definitions: { readonly [Name in MediaKindName]: KindDefinition<Name> } = {
  rest: {
    defaultLimits: {},
    read: (url, _, required) => ({ kind: 'rest', url, key: required('MEDIA_UPSTREAM_KEY') }),
    readEntry: ({ url, secret }) => ({ kind: 'rest', url: url(), key: secret('keyEnv') }),
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
    readEntry: ({ url, secret, text }) => ({
      kind: 'ark',
      url: url(),
      accessKey: secret('accessKeyEnv'),
      secretKey: secret('secretKeyEnv'),
      region: text('region', segmentForm, segment) ?? 'cn-beijing',
      project: text('project', printableForm, key) ?? 'default',
    }),
    create: ark,
  },
}

/** Reads fields of an entry of `MEDIA_UPSTREAMS`. What is wrong is reported, and a value returned all the same. */
export interface KindEntry {
  text<Value>(name: string, expected: string, parse: (text: string) => Value | undefined): Value | undefined
  /** The value of the variable that a field names. */
  secret(name: string): string
  url(): string
}

/** Reads the upstream of an entry of `MEDIA_UPSTREAMS`. */
export const readKindEntry = (entry: KindEntry): MediaUpstream =>
  definitions[entry.text('kind', kindForm, oneOf(kindNames)) ?? 'rest'].readEntry(entry)

const kindNames = Object.keys(definitions) as readonly MediaKindName[]
const kindForm = `must be ${kindNames.join(' or ')}`

/** Creates the kind that the upstream's client needs. */
export const createMediaKind = <Name extends MediaKindName>(upstream: UpstreamOf<Name>): MediaKind =>
  definitions[upstream.kind].create(upstream)

/** What is read of the asset library's upstream. */
interface ReadMediaUpstream {
  /** Undefined without an address. */
  readonly upstream: MediaUpstream | undefined
  /** Rate limits of each kind. */
  readonly limitsOf: (kind: MediaKindName) => RateLimitSettings
  /** Those of the upstream. */
  readonly limits: RateLimitSettings
}

/** Reads the upstream of the asset library, and its limits. */
export const readMediaUpstream = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
): ReadMediaUpstream => {
  const kind = read('MEDIA_UPSTREAM_KIND', kindForm, oneOf(kindNames)) ?? 'rest'
  const url = read('MEDIA_UPSTREAM_URL', webAddress, address)
  const required = (name: string): string => {
    if (env.MEDIA_UPSTREAM_URL && !env[name]) addProblem(`${name} is required for a MEDIA_UPSTREAM_URL of kind ${kind}`)
    return read(name, printableForm, key) ?? ''
  }
  const upstream = definitions[kind].read(url ?? '', read, required)
  const given = read('MEDIA_UPSTREAM_LIMITS', limitsForm, rateLimitList)
  const limitsOf = (name: MediaKindName) => given ?? definitions[name].defaultLimits
  return { upstream: url === undefined ? undefined : upstream, limitsOf, limits: limitsOf(kind) }
}

const limitsForm = 'must be a JSON object of action names and calls per second above 0'

/** The credentials of an upstream, and the texts that identify its account. No log line may contain one. */
export const mediaSecrets = (upstream: MediaUpstream | undefined): readonly string[] => {
  if (!upstream) return []
  const { secrets, accountIds = [] } = createMediaKind(upstream)
  return [...accountIds, ...secrets]
}
