import { createReaderOf } from '../shared/reader.ts'
import { badRequest, missingField, wrongType, wrongValue } from './openai-error.ts'

/** Reads a request of the text APIs. */
export const readerOf = createReaderOf({
  missing: missingField,
  wrongType,
  wrongWord: wrongValue,
  outOfRange(path, { type, min, max }, given) {
    const [side, sign, bound] = given < min ? ['below min', '>=', min] : ['above max', '<=', max]
    const words = `Invalid '${path}': ${type} ${side}imum value. Expected a value ${sign} ${bound}, but got ${given} instead.`
    return badRequest(path, `${type}_${side.replace(' ', '_')}_value`, words)
  },
  emptyIsMissing: false,
})
