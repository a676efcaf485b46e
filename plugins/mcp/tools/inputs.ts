import { Type } from '@sinclair/typebox'

/** Characters of an address. */
const maxAddressLength = 8_192

/** An address of a file. */
export const addressInput = (description: string) =>
  Type.String({ minLength: 1, maxLength: maxAddressLength, description })

/** A number of seconds to wait. A wait is shorter if the server allows less. */
export const secondsToWait = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 600, description: `${description}, at most so many seconds` }))

/** An id of an object of the caller. One of dots only would be another path. */
export const idInput = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: '[^.]', description })

/** One of some words. */
export const wordInput = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Optional(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { description },
    ),
  )
