/** A body that is there as a whole. */
export type KnownBody = string | Uint8Array<ArrayBuffer>

const known = Symbol('known body')

type Known = Response & { [known]?: KnownBody }

/** A response like any other; but a server that asks for its `knownBody` can send it in one go, without a promise or a copy. */
export const responseOf = (body: KnownBody, init: ResponseInit): Response => {
  const response: Known = new Response(body, init)
  response[known] = body
  return response
}

/** The body that a response was made of, for whoever does not read it; undefined for any other response than those of `responseOf`. */
export const knownBody = (response: Known): KnownBody | undefined => response[known]
