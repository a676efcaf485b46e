/** An error response of the asset API; it becomes `ResponseMetadata.Error`. */
export class ArkError extends Error {
  override readonly name = 'ArkError'

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
export const invalid = (name: string, message: string): ArkError =>
  new ArkError(400, `InvalidParameter.${name}`, message)

/** 400 `MissingParameter.<name>`. */
export const missing = (name: string): ArkError =>
  new ArkError(400, `MissingParameter.${name}`, `The required parameter ${name} is missing.`)

/** 405 `MethodNotAllowed` with an `Allow` header. */
export const wrongMethod = (method: string, allow: string): ArkError =>
  new ArkError(405, 'MethodNotAllowed', `The method ${method} is not allowed here.`, { allow })
