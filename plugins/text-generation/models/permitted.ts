import { permitsModel } from '../../shared/identity/models.ts'
import type { Json } from '../../shared/json/json.ts'
import { TextProblem } from '../protocol/problem.ts'

/** The error for a model that does not exist, or not for this caller. */
export const modelNotFound = (): TextProblem =>
  new TextProblem(404, 'model not found', { param: 'model', code: 'model_not_found' })

/**
 * Throws TextProblem 404 for a request that names a model which its credential may not use.
 *
 * A body goes upstream as it came, so every place counts where an upstream might look for a model: `model` in any
 * spelling and as often as it stands, `model` of a tool, and the lists `models` and `fallbacks` of some gateways.
 *
 * @param models see `Identity.models`
 */
export const requirePermittedModels = (json: Json, models: readonly string[] | undefined): void => {
  if (models === undefined || !json.isObject) return
  for (const { key, value } of json.members()) {
    const name = foldName(key)
    if (name === 'model' && (value.isString || key !== 'model')) requireModel(value, models)
    if (name === 'models' || name === 'fallbacks') requireAll(value, models)
    if (name === 'tools') for (const tool of value.elements()) requireToolModel(tool, models)
  }
}

const requireModel = (value: Json, models: readonly string[]): void => {
  if (!permitsModel(models, value.string() ?? '')) throw modelNotFound()
}

/** All strings, at any depth: there are many forms of such lists. */
const requireAll = (value: Json, models: readonly string[]): void => {
  if (value.isArray) for (const element of value.elements()) requireAll(element, models)
  else if (value.isObject) for (const member of value.members()) requireAll(member.value, models)
  else if (value.isString) requireModel(value, models)
}

const requireToolModel = (tool: Json, models: readonly string[]): void => {
  if (!tool.isObject) return
  for (const { key, value } of tool.members())
    if (foldName(key) === 'model' && value.isString) requireModel(value, models)
}

/** Longer than any spelling of a name: a character may have two UTF-16 units, and separators stand between. */
const maxKeyLength = 64

/** A key as the most lenient upstream might read it: without case, separators and compatibility forms. */
const foldName = (key: string): string =>
  key.length > maxKeyLength
    ? ''
    : key
        .normalize('NFKC')
        .replace(/[\s_-]/g, '')
        .toLowerCase()
