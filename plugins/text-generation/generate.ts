import type { Ownership } from '../ownership/index.ts'
import { readJsonBody } from '../shared/body.ts'
import type { Json } from '../shared/json.ts'
import { Problem } from '../shared/problem.ts'
import { Refusal, Unreachable } from '../upstream-proxy/index.ts'
import { answerWhole } from './answer.ts'
import { assetAddresses } from './asset-addresses.ts'
import type { Machinery } from './call.ts'
import { TextProblem } from './problem.ts'
import type { Protocol } from './protocol.ts'
import { answerStream } from './stream.ts'
import { findUpstream, type TextUpstream } from './upstreams.ts'
import { readTokens, type UsageEntry } from './usage.ts'

export interface GenerationOptions extends Machinery {
  readonly upstreams: readonly TextUpstream[]
  /** Says whose an asset is. Undefined: there is no asset library, and no address of an asset passes (reading 43). */
  readonly assets: Pick<Ownership, 'asset'> | undefined
  readonly maxBodyBytes: number
  /** Keeps what a call cost. */
  readonly record: (entry: UsageEntry) => Promise<void>
}

/** Who asks for what, and since when. */
export interface Generation {
  readonly request: Request
  readonly user: string
  readonly token: string | undefined
  /** Milliseconds since 1970. */
  readonly arrivedAt: number
}

/** Generates text: reads and checks the request, finds out who serves the model, and answers as the caller wants it. */
export const generate = async (
  { request, user, token, arrivedAt }: Generation,
  protocol: Protocol,
  options: GenerationOptions,
): Promise<Response> => {
  const body = await readJsonBody(request, options.maxBodyBytes)
  const { json } = body
  const served = findUpstream(options.upstreams, json.get('model')?.string() ?? '')
  const checked = protocol.check(json, served)
  const { model, stream } = checked
  await requireOwnAssets(json, user, request, options.assets)
  if (!served) throw new Unreachable(new Error('no upstream is configured'), false)
  const call = {
    exchange: protocol.put(json, checked, served),
    served,
    body,
    request,
    arrivedAt,
    ended: async (usage: object | undefined) => {
      const entry = { user, token, model, at: options.clock.now(), tokens: readTokens(usage) }
      await options
        .record(entry)
        .catch((err: unknown) => options.log.warn({ err, model }, 'usage could not be recorded'))
    },
  }
  return stream ? answerStream(call, options) : answerWhole(call, options)
}

/**
 * The upstream knows no users, and the address of any asset in the account would do: so each has to be the caller's own (reading 43). Throws TextProblem 403 for the
 * first that is not.
 */
const requireOwnAssets = async (
  json: Json,
  user: string,
  request: Request,
  assets: Pick<Ownership, 'asset'> | undefined,
): Promise<void> => {
  for (const { id, param } of assetAddresses(json)) {
    if (!assets) throw new TextProblem(403, 'there is no asset library here to take assets from', { param })
    await assets.asset(user, id, request).catch((error: unknown) => {
      // What the asset library's upstream says in its own shape is none of this caller's.
      if (error instanceof Refusal) throw new Unreachable(error, true)
      if (!(error instanceof Problem) || error.status !== 403) throw error
      throw new TextProblem(403, error.message, { param, code: 'asset_not_found' })
    })
  }
}
