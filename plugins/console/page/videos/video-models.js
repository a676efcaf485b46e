import { formatDate } from '../words/format.js'
import { t } from '../words/words.js'

/**
 * @typedef {object} Family what all models of a family have in common
 * @property {RegExp} pattern of the names of its models
 * @property {readonly string[]} resolutions
 * @property {readonly [min: number, max: number]} seconds
 * @property {boolean} automatic whether the model can choose the duration, and the ratio of a video without a first
 * frame
 * @property {boolean} references whether it takes reference images, videos and audio files
 * @property {readonly FieldName[]} fields its further fields
 */
/**
 * @typedef {'seed' | 'generate_audio' | 'draft' | 'camera_fixed' | 'output_format' | 'omni_reference_task_type' |
 * 'service_tier'} FieldName
 */

/** @type {readonly FieldName[]} */
const fields1 = ['seed', 'camera_fixed', 'service_tier']

/**
 * The families of models by vendor page 1520757. The first one whose pattern matches counts.
 * @type {readonly Family[]}
 */
const families = [
  {
    ...{ pattern: /seedance-2-5/, resolutions: ['480p', '720p', '1080p'], seconds: [4, 30] },
    ...{ automatic: true, references: true },
    fields: ['generate_audio', 'draft', 'output_format', 'omni_reference_task_type'],
  },
  {
    ...{ pattern: /seedance-2-0-(?:fast|mini)/, resolutions: ['480p', '720p'], seconds: [4, 15] },
    ...{ automatic: true, references: true, fields: ['generate_audio'] },
  },
  {
    ...{ pattern: /seedance-2-0/, resolutions: ['480p', '720p', '1080p', '4k'], seconds: [4, 15] },
    ...{ automatic: true, references: true, fields: ['generate_audio'] },
  },
  {
    ...{ pattern: /seedance-1-0-lite-i2v/, resolutions: ['480p', '720p', '1080p'], seconds: [2, 12] },
    ...{ automatic: false, references: true, fields: fields1 },
  },
  {
    ...{ pattern: /seedance-1-/, resolutions: ['480p', '720p', '1080p'], seconds: [2, 12] },
    ...{ automatic: false, references: false, fields: fields1 },
  },
]

/**
 * An endpoint, or a model that this page does not know: it gets the fields that most models have. Others can be given
 * as JSON.
 * @type {Family}
 */
const unknownFamily = {
  ...{ pattern: /(?:)/, resolutions: ['480p', '720p', '1080p', '4k'], seconds: [2, 30] },
  ...{ automatic: true, references: true, fields: ['seed', 'generate_audio'] },
}

/** @param {string} model */
export const familyOf = (model) => families.find(({ pattern }) => pattern.test(model)) ?? unknownFamily

export const ratios = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']

/** The vendor's models. An operator's endpoints are not among them; users can type their names. */
const knownModels = [
  'doubao-seedance-2-5-260628',
  'doubao-seedance-2-0-260128',
  'doubao-seedance-2-0-fast-260128',
  'doubao-seedance-2-0-mini-260615',
  'doubao-seedance-1-0-pro-250528',
  'doubao-seedance-1-0-pro-fast-251015',
  'doubao-seedance-1-0-lite-i2v-250428',
]

/** @typedef {import('./video-task.js').Task} Task */
/** @typedef {{ name: string, works: boolean | undefined, at?: Date }} TriedModel `works`: undefined: not tried yet */

/** Codes that say that the account may not use a model, whatever is asked of it. */
const closed = /ModelNotOpen|InvalidEndpointOrModel|AccessDenied/i

/**
 * The models that can be chosen, with what is known about them from the user's tasks: those that have made a video come
 * first.
 * @param {readonly Task[]} tasks newest first
 * @returns {readonly TriedModel[]}
 */
export const triedModels = (tasks) => {
  const names = new Set([...tasks.map(({ model }) => model), ...knownModels])
  const models = [...names].map((name) => {
    const own = tasks.filter(({ model }) => model === name)
    const worked = own.find(({ status }) => status === 'succeeded')
    const failed = own.some(({ error }) => closed.test(error?.code ?? ''))
    return {
      name,
      works: worked ? true : failed ? false : undefined,
      ...(worked && { at: new Date(worked.created_at * 1000) }),
    }
  })
  return models.toSorted((a, b) => Number(b.works === true) - Number(a.works === true))
}

/** The model that is chosen at first: the one of the newest video. @param {readonly Task[]} tasks */
export const firstModel = (tasks) => {
  const worked = tasks.find(({ status }) => status === 'succeeded')
  return (worked ?? tasks[0])?.model ?? defaultModel
}

/** Of those that make videos of everything, the one that most accounts have. */
const defaultModel = 'doubao-seedance-2-0-260128'

/** What is known about a model, in words. @param {TriedModel | undefined} model */
export const knowledgeOf = (model) => {
  if (model?.works === undefined) return t.videos.untried
  return model.works && model.at ? t.videos.worked(formatDate(model.at)) : t.videos.notOpen
}
