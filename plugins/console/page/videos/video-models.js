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
export const knownModels = [
  'doubao-seedance-2-5-260628',
  'doubao-seedance-2-0-260128',
  'doubao-seedance-2-0-fast-260128',
  'doubao-seedance-2-0-mini-260615',
  'doubao-seedance-1-0-pro-250528',
  'doubao-seedance-1-0-pro-fast-251015',
  'doubao-seedance-1-0-lite-i2v-250428',
]
