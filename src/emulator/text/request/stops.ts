import type { Reader } from '../../shared/reader.ts'
import { badRequest } from '../openai-error.ts'

/** Reads `stop`: the texts that end the output. */
export const stopsOf = (request: Reader): string[] => {
  const given = request.raw.stop ?? []
  const stops = Array.isArray(given) ? given : [given]
  if (stops.length > 4 || !stops.every((stop): stop is string => typeof stop === 'string')) {
    throw badRequest('stop', 'invalid_type', "Invalid 'stop': expected a string or an array of at most 4 strings.")
  }
  return stops.filter((stop) => stop !== '')
}
