import { useEffect, useId, useLayoutEffect } from 'preact/hooks'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { t } from '../words/words.js'
import { VideoEstimate } from './video-estimate.js'
import { VideoFields } from './video-fields.js'
import { VideoInputs } from './video-inputs.js'
import { firstModel, knowledgeOf, triedModels } from './video-models.js'

/** @typedef {import('./videos.js').Videos} Videos */

/**
 * The form of a new video.
 * @param {{ videos: Videos }} props
 */
export const VideoForm = ({ videos }) => {
  const { plan, change, suggest, create, tasks, total, busy: loading, error: listError, show, filter } = videos
  // The list tells which models work.
  useEffect(() => {
    if (total === undefined && !loading) void show(filter)
  }, [])
  const isKnown = total !== undefined || listError !== undefined
  // In a layout effect: the fields of the model are painted once.
  useLayoutEffect(() => {
    // A field with the focus is the user's: what is entered there must not be mixed with a suggestion.
    if (isKnown && document.activeElement?.getAttribute('name') !== 'model') suggest(firstModel(tasks))
  }, [isKnown])
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
  const tried = triedModels(tasks)
  const chosen = tried.find(({ name }) => name === plan.model.trim())
  return html`
    <a class="back" href=${linkTo('videos')}><${Icon} name="back" />${t.videos.title}</a>
    <div class="heading"><h1 tabindex="-1">${t.videos.create}</h1></div>
    <form class="video-form" onSubmit=${submit} aria-busy=${busy}>
      <${Field} label=${t.videos.fields.model} hint=${plan.model.trim() === '' ? t.videos.modelHint : knowledgeOf(chosen)} name="model" value=${plan.model} list=${models} onInput=${set('model')} autocomplete="off" spellcheck=${false} maxlength="256" required />
      <datalist id=${models}>${tried.map((model) => html`<option key=${model.name} value=${model.name} label=${knowledgeOf(model)}></option>`)}</datalist>
      <${Field} multiline label=${t.videos.prompt} hint=${t.videos.promptHint} name="prompt" value=${plan.prompt} onInput=${set('prompt')} />
      ${
        // The model decides about the fields below: they must not move when it is suggested.
        !isKnown && plan.model === ''
          ? html`<${Loading} kind="rows" />`
          : html`
              <${VideoInputs} plan=${plan} change=${change} />
              <${VideoFields} plan=${plan} change=${change} />
              <details>
                <summary>${t.videos.more}</summary>
                <${Field} multiline label=${t.videos.extras} hint=${t.videos.extrasHint} name="extras" value=${plan.extras} onInput=${set('extras')} placeholder='{"priority": 0}' spellcheck=${false} />
              </details>
              <${VideoEstimate} plan=${plan} />
              <${Failure} message=${error} />
              <div class="actions">
                <button type="submit" class="primary" aria-disabled=${busy}><${Icon} name="videos" />${busy ? t.working : t.videos.submit}</button>
              </div>
            `
      }
    </form>
  `
}
