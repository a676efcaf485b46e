import { createReaderOf } from '../shared/reader.ts'
import { invalidField, missingField } from './video-error.ts'

/** Reads a request of video generation. */
export const readerOf = createReaderOf({
  missing: missingField,
  wrongType: (path, expected) => invalidField(path, `it must be ${expected}`),
  wrongWord: (path, _, words) => invalidField(path, `it must be one of ${words.join(', ')}`),
  outOfRange: (path, { min, max }) => invalidField(path, `it must be from ${min} to ${max}`),
  emptyIsMissing: true,
})
