/** An error response of the asset API; it becomes `ResponseMetadata.Error`. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }
}

/** 400 `InvalidParameter.<name>`. */
export function invalid(name: string, message: string): Refusal {
  return new Refusal(400, `InvalidParameter.${name}`, message)
}

/** 400 `MissingParameter.<name>`. */
export function missing(name: string): Refusal {
  return new Refusal(400, `MissingParameter.${name}`, `The required parameter ${name} is missing.`)
}

/** 405 `MethodNotAllowed` with an `Allow` header. */
export function wrongMethod(method: string, allow: string): Refusal {
  return new Refusal(405, 'MethodNotAllowed', `The method ${method} is not allowed here.`, { allow })
}
