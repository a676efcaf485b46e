import { Check, Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { t } from '../words/words.js'
import { familyOf, ratios } from './video-models.js'

/** @typedef {import('./video-request.js').Plan} Plan */

/** @param {Event} event */
const inputValue = (event) => /** @type {HTMLInputElement} */ (event.currentTarget).value

/** The choices of a select, after the model's default. @param {readonly (readonly [string, string])[]} choices */
const orDefault = (choices) => [/** @type {const} */ (['', t.videos.modelDefault]), ...choices]

/** @param {readonly string[]} values */
const plain = (values) => values.map((value) => /** @type {const} */ ([value, value]))

/**
 * The fields of the chosen model, except its prompt and files.
 * @param {{ plan: Plan, change: (changes: Partial<Plan>) => void }} props
 */
export const VideoFields = ({ plan, change }) => {
  const family = familyOf(plan.model)
  const { fields } = plan
  const set = (/** @type {string} */ name, /** @type {string | boolean} */ value) =>
    change({ fields: { ...fields, [name]: value } })
  const has = (/** @type {import('./video-models.js').FieldName} */ name) => family.fields.includes(name)
  const select = (
    /** @type {keyof typeof t.videos.fields} */ name,
    /** @type {readonly (readonly [string, string])[]} */ choices,
  ) =>
    html`<${Select} label=${t.videos.fields[name]} value=${fields[name] ?? ''} choices=${orDefault(choices)} onChange=${(/** @type {Event} */ event) => set(name, inputValue(event))} />`
  const check = (/** @type {keyof typeof t.videos.fields} */ name) =>
    html`<${Check} label=${t.videos.fields[name]} checked=${fields[name] === true} onChange=${(/** @type {boolean} */ checked) => set(name, checked)} />`

  const [min, max] = family.seconds
  const seconds = Array.from({ length: max - min + 1 }, (_, at) => String(min + at))
  return html`
    <div class="video-fields">
      ${select('resolution', plain(family.resolutions))}
      ${select(
        'ratio',
        ratios.map((ratio) => [ratio, ratio === 'adaptive' ? t.videos.adaptive : ratio]),
      )}
      ${select('duration', [
        ...(family.automatic ? [/** @type {const} */ (['-1', t.videos.automatic])] : []),
        ...seconds.map((value) => /** @type {const} */ ([value, t.videos.seconds(Number(value))])),
      ])}
      ${has('output_format') && select('output_format', plain(['mp4', 'mov']))}
      ${
        has('omni_reference_task_type') &&
        plan.mode === 'references' &&
        select('omni_reference_task_type', Object.entries(t.videos.taskTypes))
      }
      ${has('service_tier') && select('service_tier', [['flex', t.videos.tiers.flex]])}
      ${
        has('seed') &&
        html`<${Field} label=${t.videos.fields.seed} type="number" min="-1" max="2147483647" step="1" value=${fields.seed ?? ''} placeholder=${t.videos.random} onInput=${(/** @type {Event} */ event) => set('seed', inputValue(event))} />`
      }
    </div>
    <div class="video-checks">
      ${has('generate_audio') && check('generate_audio')}
      ${check('return_last_frame')}
      ${has('draft') && check('draft')}
      ${has('camera_fixed') && check('camera_fixed')}
      ${check('watermark')}
    </div>
  `
}
