import { errorDetails } from '../../shared/upstream/error-details.ts'
import type { RawResponse } from '../../shared/upstream/upstream-error.ts'

/** The vendor has refused a picture, because it may show a real person. */
export interface PersonRefusal {
  readonly code: string
  readonly message: string
  /** Indexes in `content`. Empty: the vendor names none, as for a request with one picture. */
  readonly items: readonly number[]
}

const pictureOfPerson = 'InputImageSensitiveContentDetected.PrivacyInformation'

/** Reads a rejection of a create call. Undefined: it is about something else. */
export const personRefusalOf = (response: Pick<RawResponse, 'bytes'>): PersonRefusal | undefined => {
  const detail = errorDetails(response).find(({ code }) => code === pictureOfPerson)
  if (!detail) return undefined
  const { field, code, message } = detail
  return { code, message, items: itemsIn(`${field} ${message}`) }
}

/** The items of `content` that a text names, such as `content[1]`: the vendor names them in its messages. */
export const itemsIn = (text: string): readonly number[] =>
  [...text.matchAll(/\bcontent\[(\d{1,4})\]/g)].map(([, index]) => Number(index))
