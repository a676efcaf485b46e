import { familyOf } from './video-models.js'

/**
 * @typedef {object} Input a file that a video is made of
 * @property {'Image' | 'Video' | 'Audio'} type
 * @property {string} url `asset://…`, or a link
 * @property {string} title
 * @property {string} [preview] a link to the file of an asset
 */
/** @typedef {'text' | 'frames' | 'references' | 'draft'} Mode the modes exclude each other */
/**
 * @typedef {object} Plan what the user has entered for a video
 * @property {string} model
 * @property {Mode} mode
 * @property {string} prompt
 * @property {Input} [firstFrame]
 * @property {Input} [lastFrame]
 * @property {readonly Input[]} references
 * @property {boolean} [autoAssets] whether a picture that is refused for a person becomes an asset
 * @property {string} [draftTask] id of the user's draft
 * @property {Readonly<Record<string, string | boolean>>} fields by the name of the request's field; an empty text: the
 * model's default
 * @property {string} extras JSON
 */

/** @type {Plan} */
export const emptyPlan = {
  ...{ model: '', mode: 'text', prompt: '', references: [], extras: '' },
  fields: { generate_audio: true, return_last_frame: true },
}

/** The files that a request with this plan names. @param {Plan} plan */
export const filesOf = ({ mode, firstFrame, lastFrame, references }) => {
  if (mode === 'references') return references
  return mode === 'frames' ? [firstFrame, lastFrame].filter((input) => input !== undefined) : []
}

/**
 * Whether the request may ask that refused pictures become assets. The server does it for no task of the tier flex.
 * @param {Plan} plan
 */
export const mayHaveAutoAssets = ({ model, mode, fields }) =>
  (mode === 'frames' || mode === 'references') &&
  !(fields.service_tier === 'flex' && familyOf(model).fields.includes('service_tier'))

const roles = { Image: 'reference_image', Video: 'reference_video', Audio: 'reference_audio' }

/**
 * @param {Input} input
 * @param {string} role
 */
const itemOf = ({ type, url }, role) => {
  const name = `${type.toLowerCase()}_url`
  return { type: name, [name]: { url }, role }
}

/** @param {Plan} plan */
const contentOf = ({ mode, prompt, firstFrame, lastFrame, references, draftTask }) => [
  ...(prompt.trim() === '' ? [] : [{ type: 'text', text: prompt }]),
  ...(mode === 'frames' && firstFrame ? [itemOf(firstFrame, 'first_frame')] : []),
  ...(mode === 'frames' && lastFrame ? [itemOf(lastFrame, 'last_frame')] : []),
  ...(mode === 'references' ? references.map((input) => itemOf(input, roles[input.type])) : []),
  ...(mode === 'draft' && draftTask ? [{ type: 'draft_task', draft_task: { id: draftTask } }] : []),
]

/** The fields that every model has. */
const commonFields = ['resolution', 'ratio', 'duration', 'return_last_frame', 'watermark']

/**
 * Values that are the model's default, and so are not sent. That of other fields is false.
 * @type {Readonly<Record<string, string | boolean>>}
 */
const defaults = { generate_audio: true }

/**
 * The fields that the user has set and the model has.
 * @param {Plan} plan
 */
const fieldsOf = ({ model, fields }) => {
  const { fields: names } = familyOf(model)
  /** @type {Record<string, unknown>} */
  const set = {}
  for (const name of [...commonFields, ...names]) {
    const value = fields[name]
    if (value === undefined || value === '' || value === (defaults[name] ?? false)) continue
    set[name] = name === 'duration' || name === 'seed' ? Number(value) : value
  }
  return set
}

/** @typedef {'model' | 'empty' | 'extras'} PlanProblem what the user has to change before the request can be sent */

/**
 * The body of the create request, or what is missing. The server checks everything else.
 * @param {Plan} plan
 * @returns {{ body: object } | { problem: PlanProblem }}
 */
export const requestOf = (plan) => {
  const content = contentOf(plan)
  const extras = readExtras(plan.extras)
  if (plan.model.trim() === '') return { problem: 'model' }
  if (!extras) return { problem: 'extras' }
  if (content.length === 0) return { problem: 'empty' }
  const references = plan.autoAssets && mayHaveAutoAssets(plan) ? { references: 'auto' } : {}
  return { body: { model: plan.model.trim(), content, ...fieldsOf(plan), ...references, ...extras } }
}

/**
 * An object without `model` and `content`, which the form has.
 * @param {string} text
 * @returns {object | undefined}
 */
const readExtras = (text) => {
  if (text.trim() === '') return {}
  try {
    const value = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && !('model' in value) && !('content' in value) ? value : undefined
  } catch {
    return undefined
  }
}
