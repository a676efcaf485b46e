/**
 * Whether a credential may use a model.
 *
 * @param models the models of the credential; `*` at the end of one stands for any rest. Undefined: all
 */
export const permitsModel = (models: readonly string[] | undefined, model: string): boolean =>
  models === undefined ||
  models.some((permitted) => (permitted.endsWith('*') ? model.startsWith(permitted.slice(0, -1)) : model === permitted))
