import type { Located } from '../../plugins/ownership/index.ts'
import { type Claim, type ClaimStore, claimed, type Effect, type Ownership } from '../../plugins/ownership/index.ts'
import type { Audit } from '../../plugins/shared/audit.ts'
import { readId } from '../../plugins/shared/id.ts'
import { asFields } from '../../plugins/shared/json.ts'
import type { Log } from '../../plugins/shared/problem.ts'
import {
  type Answer,
  type Caller,
  Invalid,
  Refusal,
  Unreachable,
  Unsent,
  type Upstream,
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
export type Evidence = Answer | Refusal

export type Owners = Ownership<Evidence>

/** Asks the upstream where an asset lies. "No such asset" is an answer; every other refusal is the caller's to see. */
export const locateAsset = async (upstream: Upstream, id: string, caller: Caller): Promise<Located<Evidence>> => {
  try {
    const evidence = await upstream.send({ action: 'GetAsset', id }, caller)
    const asset = asFields(evidence.fields?.Result)
    const group = readId(asset?.GroupId)
    if (group === undefined) throw new Invalid('an asset without GroupId')
    if (typeof asset?.Id === 'string' && asset.Id !== id) throw new Invalid('another asset than the one asked for')
    return { group, evidence }
  } catch (error) {
    if (error instanceof Refusal && absent.has(error.status)) return { group: undefined, evidence: error }
    throw error
  }
}

/** An id that no asset has, or could have. */
const absent: ReadonlySet<number> = new Set([400, 404, 410])

/** `Result.Id` of what was created; Invalid when there is none. */
export const createdId = (answer: Answer): string => {
  const id = readId(asFields(answer.fields?.Result)?.Id)
  if (id === undefined) throw new Invalid('a creation without Result.Id')
  return id
}

/** Asks the upstream under a claim on a group's name. */
export const underClaim = (
  { claims, claimMs, now }: Library,
  wanted: Omit<Claim, 'id' | 'state' | 'createdAt' | 'dueAt'>,
  make: () => Promise<Answer>,
  idOf: (answer: Answer) => string,
): Promise<Answer> =>
  claimed({
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

const effectOf = (error: unknown): Effect => {
  if (error instanceof Refusal) return error.status < 500 ? 'none' : 'doubtful'
  return error instanceof Unsent || (error instanceof Unreachable && !error.sent) ? 'none' : 'unknown'
}
