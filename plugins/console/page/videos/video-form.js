import { useId } from 'preact/hooks'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Failure } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { t } from '../words/words.js'
import { VideoFields } from './video-fields.js'
import { VideoInputs } from './video-inputs.js'
import { knownModels } from './video-models.js'

/** @typedef {import('./videos.js').Videos} Videos */

/**
 * The form of a new video.
 * @param {{ videos: Videos }} props
 */
export const VideoForm = ({ videos }) => {
  const { plan, change, create, tasks } = videos
  const models = useId()
  const { run, busy, error } = useAction(async () => {
    const id = await create()
    showToast(t.videos.created)
    navigate('videos', id)
  })
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run()
  }
  const set = (/** @type {'model' | 'prompt' | 'extras'} */ name) => (/** @type {Event} */ event) =>
    change({ [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value })
  const names = new Set([...tasks.map(({ model }) => model), ...knownModels])
  return html`
    <a class="back" href=${linkTo('videos')}><${Icon} name="back" />${t.videos.title}</a>
    <div class="heading"><h1 tabindex="-1">${t.videos.create}</h1></div>
    <form class="video-form" onSubmit=${submit} aria-busy=${busy}>
      <${Field} label=${t.videos.fields.model} hint=${t.videos.modelHint} name="model" value=${plan.model} list=${models} onInput=${set('model')} autocomplete="off" spellcheck=${false} maxlength="256" required />
      <datalist id=${models}>${[...names].map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
      <${Field} multiline label=${t.videos.prompt} hint=${t.videos.promptHint} name="prompt" value=${plan.prompt} onInput=${set('prompt')} />
      <${VideoInputs} plan=${plan} change=${change} />
      <${VideoFields} plan=${plan} change=${change} />
      <details>
        <summary>${t.videos.more}</summary>
        <${Field} multiline label=${t.videos.extras} hint=${t.videos.extrasHint} name="extras" value=${plan.extras} onInput=${set('extras')} placeholder='{"priority": 0}' spellcheck=${false} />
      </details>
      <${Failure} message=${error} />
      <div class="actions">
        <button type="submit" class="primary" aria-disabled=${busy}><${Icon} name="videos" />${busy ? t.working : t.videos.submit}</button>
      </div>
    </form>
  `
}
