/** Models that one token may name. */
export const maxTokenModels = 100
/** Characters of one of them. */
export const maxTokenModelLength = 256

/** Whether a value may be a model of a token: 1 to 256 characters without control characters, `*` at the end only. */
export const isTokenModel = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= maxTokenModelLength &&
  value.isWellFormed() &&
  /^[^*\p{Cc}]+\*?$|^\*$/u.test(value)

/**
 * Whether a credential may use a model.
 *
 * @param models the models of the credential; `*` at the end of one stands for any rest. Undefined: all
 */
export const permitsModel = (models: readonly string[] | undefined, model: string): boolean =>
  models === undefined ||
  models.some((permitted) => (permitted.endsWith('*') ? model.startsWith(permitted.slice(0, -1)) : model === permitted))
