import { useState } from 'preact/hooks'
import { paths } from '../api/paths.js'
import { AssetPicker } from '../assets/asset-picker.js'
import { Check } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { httpUrl } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { t } from '../words/words.js'
import { familyOf } from './video-models.js'
import { mayHaveAutoAssets } from './video-request.js'

/** @typedef {import('./video-request.js').Input} Input */
/** @typedef {import('./video-request.js').Mode} Mode */
/** @typedef {import('./video-request.js').Plan} Plan */
/** @typedef {(changes: Partial<Plan>) => void} Change */

const hasShares = paths.shares !== undefined

/**
 * What the video is made of: nothing but the prompt, a first and a last frame, references, or a draft. The modes
 * exclude each other.
 * @param {{ plan: Plan, change: Change }} props
 */
export const VideoInputs = ({ plan, change }) => {
  const { mode, draftTask } = plan
  /** @type {readonly Mode[]} */
  const modes = [
    ...[/** @type {const} */ ('text'), /** @type {const} */ ('frames')],
    ...(familyOf(plan.model).references || mode === 'references' ? [/** @type {const} */ ('references')] : []),
    ...(draftTask ? [/** @type {const} */ ('draft')] : []),
  ]
  return html`
    <fieldset class="modes">
      <legend>${t.videos.madeOf}</legend>
      <div>
        ${modes.map(
          (one) => html`
            <label key=${one} class="check">
              <input type="radio" name="mode" value=${one} checked=${one === mode} onChange=${() => change({ mode: one })} />
              <span>${t.videos.modes[one]}</span>
            </label>
          `,
        )}
      </div>
    </fieldset>
    ${mode === 'frames' && html`<${Frames} plan=${plan} change=${change} />`}
    ${mode === 'references' && html`<${References} plan=${plan} change=${change} />`}
    ${mayHaveAutoAssets(plan) && html`<${Check} label=${t.videos.autoAssets} hint=${t.videos.autoAssetsHint} checked=${plan.autoAssets === true} onChange=${(/** @type {boolean} */ autoAssets) => change({ autoAssets })} />`}
    ${mode === 'draft' && html`<p class="hint">${t.videos.fromDraft} <code>${draftTask}</code></p>`}
  `
}

/** @param {{ plan: Plan, change: Change }} props */
const Frames = ({ plan: { firstFrame, lastFrame }, change }) => {
  const [picking, setPicking] = useState(/** @type {'firstFrame' | 'lastFrame' | undefined} */ (undefined))
  return html`
    <ul class="inputs">
      <${FrameInput} label=${t.videos.firstFrame} input=${firstFrame} pick=${() => setPicking('firstFrame')} remove=${() => change({ firstFrame: undefined, lastFrame: undefined })} />
      ${
        (firstFrame || lastFrame) &&
        html`<${FrameInput} label=${t.videos.lastFrame} input=${lastFrame} pick=${() => setPicking('lastFrame')} remove=${() => change({ lastFrame: undefined })} />`
      }
    </ul>
    ${
      picking &&
      html`<${AssetPicker} title=${t.videos.pick[picking]} types=${['Image']} lent=${hasShares} onClose=${() => setPicking(undefined)}
        onPick=${(/** @type {readonly Input[]} */ [input]) => change({ [picking]: input })} />`
    }
  `
}

/** @param {{ label: string, input: Input | undefined, pick: () => void, remove: () => void }} props */
const FrameInput = ({ label, input, pick, remove }) => html`
  <li>
    ${input && html`<${Thumbnail} type=${input.type} address=${input.preview ?? httpUrl(input.url)} />`}
    <p><strong>${label}</strong>${input && html`<br />${input.title}`}</p>
    <div class="actions">
      <button type="button" class="small" aria-label=${(input ? t.videos.changeOf : t.videos.chooseOf)(label)} onClick=${pick}>${input ? t.videos.change : t.videos.choose}</button>
      ${input && html`<button type="button" class="small" aria-label=${t.videos.removeOf(label)} onClick=${remove}>${t.videos.remove}</button>`}
    </div>
  </li>
`

/**
 * How a prompt names each reference: by its type, and its place among those of the type.
 * @param {readonly Input[]} references
 */
const numbered = (references) => {
  /** @type {Map<string, number>} */
  const counts = new Map()
  return new Map(
    references.map((input) => {
      const number = (counts.get(input.type) ?? 0) + 1
      counts.set(input.type, number)
      return [input, t.videos.numbered(t.assets.types[input.type], number)]
    }),
  )
}

/** @param {{ plan: Plan, change: Change }} props */
const References = ({ plan: { references }, change }) => {
  const [picking, setPicking] = useState(false)
  const add = (/** @type {readonly Input[]} */ inputs) => {
    const known = new Set(references.map(({ url }) => url))
    change({ references: [...references, ...inputs.filter(({ url }) => !known.has(url))] })
  }
  const remove = (/** @type {Input} */ input) => change({ references: references.filter((one) => one !== input) })
  const numbers = numbered(references)
  return html`
    ${
      references.length > 0 &&
      html`
        <ul class="inputs">
          ${references.map(
            (input) => html`
              <li key=${input.url}>
                <${Thumbnail} type=${input.type} address=${input.preview ?? httpUrl(input.url)} />
                <p><strong>${numbers.get(input)}</strong><br />${input.title}</p>
                <div class="actions">
                  <button type="button" class="small" aria-label=${t.videos.removeOf(input.title)} onClick=${() => remove(input)}>${t.videos.remove}</button>
                </div>
              </li>
            `,
          )}
        </ul>
        <p class="hint">${t.videos.numberedHint([...numbers.values()].join(t.videos.comma))}</p>
      `
    }
    <p><button type="button" onClick=${() => setPicking(true)}><${Icon} name="add" />${t.videos.addReferences}</button></p>
    ${
      picking &&
      html`<${AssetPicker} title=${t.videos.pick.references} types=${['Image', 'Video', 'Audio']} multiple lent=${hasShares} onPick=${add} onClose=${() => setPicking(false)} />`
    }
  `
}
