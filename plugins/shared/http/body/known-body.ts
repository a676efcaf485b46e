/** A complete body in memory. */
export type KnownBody = string | Uint8Array<ArrayBuffer>

const known = Symbol('known body')

type Known = Response & { [known]?: KnownBody }

/**
 * A normal response that also keeps its complete body: a server that calls `knownBody` can send it synchronously,
 * without a copy.
 */
export const responseOf = (body: KnownBody, init: ResponseInit): Response => {
  const response: Known = new Response(body, init)
  response[known] = body
  return response
}

/**
 * The complete body of a response from `responseOf`; else undefined. The caller must then not use the response's own
 * body.
 */
export const knownBody = (response: Known): KnownBody | undefined => response[known]
