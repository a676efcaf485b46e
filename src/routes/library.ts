import type { AssetLocation } from '../../plugins/ownership/index.ts'
import {
  type Claim,
  type ClaimEffect,
  type ClaimStore,
  type Ownership,
  withClaim,
} from '../../plugins/ownership/index.ts'
import type { Audit } from '../../plugins/shared/audit.ts'
import { readId } from '../../plugins/shared/id.ts'
import { asJsonObject } from '../../plugins/shared/json.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import {
  type Caller,
  type Upstream,
  UpstreamBusyError,
  UpstreamInvalidError,
  UpstreamRefusedError,
  type UpstreamResponse,
  UpstreamUnreachableError,
} from '../../plugins/upstream-proxy/index.ts'

/** What the routes work with. */
export interface Library {
  readonly upstream: Upstream
  readonly claims: ClaimStore
  /** Largest body that is read. */
  readonly maxBodyBytes: number
  /** Milliseconds from a claim until anybody may settle it: longer than its call to the upstream can take. */
  readonly claimMs: number
  readonly now: () => number
  readonly log: Log
  readonly audit: Audit
}

/** What the upstream said of an asset: its answer, or that there is no such asset. */
export type Evidence = UpstreamResponse | UpstreamRefusedError

export type Owners = Ownership<Evidence>

/** Asks the upstream where an asset lies. "No such asset" is an answer; every other refusal is the caller's to see. */
export const locateAsset = async (upstream: Upstream, id: string, caller: Caller): Promise<AssetLocation<Evidence>> => {
  try {
    const evidence = await upstream.send({ action: 'GetAsset', id }, caller)
    const asset = asJsonObject(evidence.fields?.Result)
    const group = readId(asset?.GroupId)
    if (group === undefined) throw new UpstreamInvalidError('an asset without GroupId')
    if (typeof asset?.Id === 'string' && asset.Id !== id)
      throw new UpstreamInvalidError('another asset than the one asked for')
    return { group, evidence }
  } catch (error) {
    if (error instanceof UpstreamRefusedError && absent.has(error.status)) return { group: undefined, evidence: error }
    throw error
  }
}

/** An id that no asset has, or could have. */
const absent: ReadonlySet<number> = new Set([400, 404, 410])

/** `Result.Id` of what was created; Invalid when there is none. */
export const createdId = (answer: UpstreamResponse): string => {
  const id = readId(asJsonObject(answer.fields?.Result)?.Id)
  if (id === undefined) throw new UpstreamInvalidError('a creation without Result.Id')
  return id
}

/** Asks the upstream under a claim on a group's name. */
export const underClaim = (
  { claims, claimMs, now }: Library,
  wanted: Omit<Claim, 'id' | 'state' | 'createdAt' | 'dueAt'>,
  make: () => Promise<UpstreamResponse>,
  idOf: (answer: UpstreamResponse) => string,
): Promise<UpstreamResponse> =>
  withClaim({
    store: claims,
    wanted: { ...wanted, createdAt: now(), dueAt: now() + claimMs },
    make: async () => {
      const answer = await make()
      // An answer that names no group has to be found wanting while the claim still stands open.
      idOf(answer)
      return answer
    },
    idOf,
    effectOf,
    now,
  })

const effectOf = (error: unknown): ClaimEffect => {
  if (error instanceof UpstreamRefusedError) return error.status < 500 ? 'none' : 'doubtful'
  return error instanceof UpstreamBusyError || (error instanceof UpstreamUnreachableError && !error.sent)
    ? 'none'
    : 'unknown'
}
