import { composeInTurns, type Json, readJsonInTurns, responseLimits } from '../../shared/json/json.ts'

/**
 * Composes and reads a translated request. It has few values more than the caller's, which had to be within the limits.
 */
export const indexInTurns = async (json: Json): Promise<Json> =>
  readJsonInTurns(await composeInTurns(json), { ...responseLimits, maxDepth: 128 })
