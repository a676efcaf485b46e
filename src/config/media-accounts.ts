import { isJsonObject } from '../../plugins/shared/json/parsed.ts'
import { accountName } from '../../plugins/upstream-proxy/accounts.ts'
import type { VideoUpstream } from '../../plugins/video-generation/index.ts'
import { credentialIn, listIn, reportUnknown } from './environment/entries.ts'
import { address, webAddress } from './environment/parsers.ts'
import type { Environment, Read } from './environment/reader.ts'
import {
  type KindEntry,
  type MediaKindName,
  type MediaUpstream,
  type RateLimitSettings,
  readKindEntry,
} from './media-upstream.ts'

/** One of several accounts of the asset library. */
export interface MediaAccountConfig {
  /** The records of groups have it. */
  readonly name: string
  readonly upstream: MediaUpstream
  readonly limits: RateLimitSettings
  /**
   * How many groups and assets fit into it. With `MEDIA_ASSET_SLOTS`: how many assets it may have at once. Undefined:
   * not known, or what that says.
   */
  readonly slots?: number
  /** Where its videos are made. Undefined: nowhere. */
  readonly video?: VideoUpstream
}

/** Settings of a single account, which say nothing where there are several. */
const singleNames = ['URL', 'KIND', 'REGION', 'PROJECT'].map((name) => `MEDIA_UPSTREAM_${name}`)

/**
 * Reads `MEDIA_UPSTREAMS`: a JSON list of accounts, or `@FILE` for a file with one. Instead of credentials, an entry
 * has the names of the variables with them. Undefined without it: there is one account, or none.
 */
export const readMediaAccounts = (
  env: Environment,
  read: Read,
  addProblem: (problem: string) => void,
  limitsOf: (kind: MediaKindName) => RateLimitSettings,
): readonly MediaAccountConfig[] | undefined => {
  if (!env.MEDIA_UPSTREAMS) return undefined
  for (const name of singleNames) if (env[name]) addProblem(`${name} and MEDIA_UPSTREAMS must not both be set`)
  const entries = read('MEDIA_UPSTREAMS', listForm, listIn) ?? []
  const names = new Set<string>()
  return entries.map((entry, index) => {
    const report = (problem: string) => addProblem(`MEDIA_UPSTREAMS[${index}]${problem}`)
    const account = toAccount(entry, env, report, limitsOf)
    if (names.has(account.name)) report('.name is that of another account')
    if (account.name !== '') names.add(account.name)
    // That of the first account, unless it has an address of its own.
    if (index === 0 && account.video && env.VIDEO_UPSTREAM_URL)
      addProblem('VIDEO_UPSTREAM_URL and MEDIA_UPSTREAMS[0].videoUrl must not both be set')
    return account
  })
}

const listForm = 'must be a JSON list of accounts, or @ and the path of a file with one'

const toAccount = (
  entry: unknown,
  env: Environment,
  report: (problem: string) => void,
  limitsOf: (kind: MediaKindName) => RateLimitSettings,
): MediaAccountConfig => {
  if (!isJsonObject(entry)) report(' must be an object')
  const fields = isJsonObject(entry) ? { ...entry } : {}
  const taken = new Set(['name', 'slots'])

  const text = <Value>(
    name: string,
    expected: string,
    parse: (text: string) => Value | undefined,
  ): Value | undefined => {
    taken.add(name)
    const value = fields[name]
    if (value === undefined) return undefined
    const parsed = typeof value === 'string' ? parse(value) : undefined
    if (parsed === undefined) report(`.${name} ${expected}`)
    return parsed
  }
  const required = <Value>(name: string, expected: string, parse: (text: string) => Value | undefined) => {
    const value = text(name, expected, parse)
    if (fields[name] === undefined) report(`.${name} is required`)
    return value
  }
  const secret = (name: string): string => {
    taken.add(name)
    if (fields[name] !== undefined) return credentialIn(env, name, fields[name], report) ?? ''
    report(`.${name} is required`)
    return ''
  }

  const name = required('name', nameForm, (value) => (accountName.test(value) ? value : undefined)) ?? ''
  const { slots } = fields
  if (slots !== undefined && !(Number.isSafeInteger(slots) && Number(slots) > 0))
    report('.slots must be an integer from 1')
  const reader: KindEntry = {
    text,
    secret,
    url: () => required('url', webAddress, address) ?? '',
  }
  const upstream = readKindEntry(reader)
  const video = readVideo(fields, { text, secret }, report)
  if (isJsonObject(entry)) reportUnknown(fields, [...taken], ['key', 'accessKey', 'secretKey'], report)
  return {
    name,
    upstream,
    limits: limitsOf(upstream.kind),
    ...(slots !== undefined && { slots: Number(slots) }),
    ...(video && { video }),
  }
}

const readVideo = (
  fields: Readonly<Record<string, unknown>>,
  { text, secret }: Pick<KindEntry, 'text' | 'secret'>,
  report: (problem: string) => void,
): VideoUpstream | undefined => {
  const url = text('videoUrl', webAddress, address)
  if (fields.videoUrl === undefined && fields.videoKeyEnv === undefined) return undefined
  const key = secret('videoKeyEnv')
  if (fields.videoUrl === undefined) report('.videoUrl is required for a videoKeyEnv')
  return { url: url ?? '', key }
}

const nameForm = 'must be letters, digits, ., _ and -, at most 64 characters'
