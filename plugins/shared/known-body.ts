/** A body that is there as a whole. */
export type KnownBody = string | Uint8Array<ArrayBuffer>

const bodies = new WeakMap<Response, KnownBody>()

/** A response like any other; but a server that asks for its `knownBody` can send it in one go, without a promise or a copy. */
export const responseOf = (body: KnownBody, init: ResponseInit): Response => {
  const response = new Response(body, init)
  bodies.set(response, body)
  return response
}

/** The body that a response was made of, for whoever does not read it; undefined for any other response than those of `responseOf`. */
export const knownBody = (response: Response): KnownBody | undefined => bodies.get(response)
