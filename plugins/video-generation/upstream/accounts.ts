import type { Fetch } from '../../shared/upstream/upstream-error.ts'
import { rejectParameter } from '../tasks/problem.ts'
import { readTaskFields } from '../tasks/request/fields.ts'
import type { VideoTask } from '../tasks/task.ts'
import {
  createVideoClient,
  unconfigured,
  type VideoClient,
  type VideoClientOptions,
  type VideoUpstream,
} from './client.ts'

/** An account of the asset library, and where its videos are made: a task needs assets of its own account. */
export interface VideoAccount {
  /** As the asset library has it. */
  readonly name: string
  /** Undefined: this account makes no videos. */
  readonly upstream?: VideoUpstream | undefined
  /** Default: that of the options. */
  readonly fetch?: Fetch | undefined
}

/** The accounts of the video upstream. */
export interface VideoAccounts {
  /** Those that make videos. With one account: that one, which has no name. */
  readonly names: readonly [string | undefined, ...(string | undefined)[]]
  /** The account of a task. */
  of(task: Pick<VideoTask, 'fields'>): string | undefined
  /** Its client. That of an account that makes no videos rejects every call. */
  clientOf(account: string | undefined): VideoClient
  /** The name of the pool of slots of a model on an account. Undefined: that of the model. */
  poolOf(account: string | undefined, model: string): string | undefined
  /** The model of a pool. */
  modelOf(pool: string): string
}

/** There is one account, without a name. */
export const oneVideoAccount = (client: VideoClient): VideoAccounts => ({
  names: [undefined],
  of: () => undefined,
  clientOf: () => client,
  poolOf: () => undefined,
  modelOf: (pool) => pool,
})

/**
 * Several accounts. The tasks of the time before there were several are those of the first, and it keeps the pools that
 * they are in.
 */
export const createVideoAccounts = (
  accounts: readonly VideoAccount[],
  options: Omit<VideoClientOptions, 'upstream'>,
): VideoAccounts => {
  const clients = new Map(
    accounts.map(({ name, upstream, fetch = options.fetch }) => [
      name,
      upstream ? createVideoClient({ ...options, upstream, fetch, account: name }) : unconfigured,
    ]),
  )
  const first = accounts[0]?.name
  const [name, ...others] = accounts.flatMap(({ name, upstream }) => (upstream ? [name] : []))
  return {
    names: [name, ...others],
    of: ({ fields }) => readTaskFields(fields).account ?? first,
    clientOf: (account) => clients.get(account ?? '') ?? unconfigured,
    poolOf: (account, model) => (account === first ? undefined : `${account} ${model}`),
    modelOf(pool) {
      const at = pool.indexOf(' ')
      return at > 0 && clients.has(pool.slice(0, at)) ? pool.slice(at + 1) : pool
    },
  }
}

/**
 * The account of a task: that of its assets and its draft. Undefined: any.
 *
 * Throws VideoProblem 400 if they are on several accounts, or on one that makes no videos.
 */
export const accountFor = (
  accounts: VideoAccounts,
  used: readonly { readonly account?: string | undefined }[],
): string | undefined => {
  const [first, ...others] = new Set(used.map(({ account }) => account))
  if (others.length > 0)
    rejectParameter(
      'content',
      `has assets of several accounts, of which a task can use one: ${[first, ...others].join(', ')}`,
    )
  if (used.length > 0 && !accounts.names.includes(first))
    rejectParameter('content', `has assets of the account ${first}, which makes no videos`)
  return first
}
