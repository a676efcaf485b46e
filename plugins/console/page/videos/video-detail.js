import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { shownError } from '../api/api-error.js'
import { useServerTime } from '../api/clock.js'
import { useAdvice } from '../controls/advice.js'
import { CopyButton } from '../controls/copy-button.js'
import { FormDialog } from '../controls/dialog.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { showToast } from '../controls/toast.js'
import { linkTo, navigate } from '../frame/route.js'
import { formatCountdown, formatNumber, formatTime } from '../words/format.js'
import { t } from '../words/words.js'
import { SaveResult } from './save-result.js'
import { placeText, StatusBadge } from './video-list.js'
import { emptyPlan } from './video-request.js'
import { hasEnded, reasonOf } from './video-task.js'

/** @typedef {import('./video-task.js').Task} Task */
/** @typedef {import('./videos.js').Videos} Videos */

/**
 * One task: its state, its video, and what can be done with it.
 * @param {{ videos: Videos, id: string }} props
 */
export const VideoDetail = ({ videos, id }) => {
  const [error, setError] = useState(/** @type {import('../api/api-error.js').ApiError | undefined} */ (undefined))
  const [isRemoving, setIsRemoving] = useState(false)
  const task = videos.tasks.find((one) => one.id === id)
  const load = () => {
    setError(undefined)
    videos.refresh(id).catch((caught) => setError(shownError(caught)))
  }
  useEffect(load, [id])

  const remove = async () => {
    if (!task) return
    const left = await videos.remove(task)
    showToast(left ? t.videos.cancelled : t.videos.deleted)
    if (!left) navigate('videos')
  }
  return html`
    <a class="back" href=${linkTo('videos')}><${Icon} name="back" />${t.videos.title}</a>
    <div class="heading">
      <h1 tabindex="-1" class="video-title">${task ? videos.titleOf(task) : id}</h1>
      <div class="actions">
        ${
          task &&
          hasEnded(task) &&
          html`<button type="button" onClick=${() => begin(videos, planOf(task, videos))}>${t.videos.again}</button>`
        }
        ${
          task &&
          task.status !== 'running' &&
          html`<button type="button" class="danger" onClick=${() => setIsRemoving(true)}>${removal(task).button}</button>`
        }
      </div>
    </div>
    ${
      error?.status === 404
        ? html`<${Empty} icon="videos" title=${t.videos.missing}><p>${t.videos.missingHint}</p><button type="button" onClick=${load}>${t.retry}</button><//>`
        : html`<${Failure} message=${error} retry=${load} />`
    }
    ${!task && !error && html`<${Loading} kind="rows" count=${1} />`}
    ${
      task &&
      html`
        <p class="hint status-line"><${StatusBadge} task=${task} /><code>${id}</code><${CopyButton} text=${id} label=${t.assets.copyId} /></p>
        <${State} task=${task} videos=${videos} reload=${load} />
        ${task.status === 'succeeded' && html`<${Results} task=${task} videos=${videos} />`}
        <${Facts} task=${task} prompt=${videos.planOf(id)?.prompt.trim()} />
      `
    }
    ${
      isRemoving &&
      task &&
      html`
        <${FormDialog} danger title=${removal(task).title} submitLabel=${removal(task).title} action=${remove} onClose=${() => setIsRemoving(false)}>
          <p>${removal(task).warning}</p>
        <//>
      `
    }
  `
}

/**
 * The texts about the removal of a task: it is cancelled before it starts, and deleted after its end.
 *
 * @param {Task} task
 */
const removal = (task) =>
  hasEnded(task)
    ? { button: t.delete, title: t.videos.delete, warning: t.videos.deleteWarning }
    : { button: t.cancel, title: t.videos.cancel, warning: t.videos.cancelWarning }

/** @param {{ task: Task, videos: Videos, reload: () => void }} props */
const State = ({ task, videos, reload }) => {
  if (task.status === 'succeeded')
    return html`<${Player} address=${httpUrl(task.content?.video_url)} reload=${reload} />`
  if (task.status === 'failed' || task.status === 'expired') return html`<${Refusal} task=${task} videos=${videos} />`
  return html`
    <div class="task waiting-video">
      ${task.status === 'cancelled' ? html`<p>${t.videos.cancelledHint}</p>` : html`<${Waiting} task=${task} />`}
    </div>
  `
}

/**
 * Why there is no video, and what to do about it.
 * @param {{ task: Task, videos: Videos }} props
 */
const Refusal = ({ task, videos }) => {
  const { code, message } = task.error ?? {}
  const advice = useAdvice(code, message)
  const plan = planOf(task, videos)
  return html`
    <div class="verdict Failed" role="alert">
      <p><strong>${task.status === 'expired' ? t.videos.expired : t.videos.failed}</strong></p>
      <p>${advice?.text ?? (task.status === 'expired' ? t.videos.expiredReason : t.videos.failedHint)}</p>
      <p class="hint">${reasonOf(task)} ${code && html`<code>${code}</code>`}</p>
      <p class="actions">
        ${advice?.change === 'without_audio' && html`<button type="button" class="small primary" onClick=${() => begin(videos, { ...plan, fields: { ...plan.fields, generate_audio: false } })}>${t.videos.withoutSound}</button>`}
        ${advice?.change === 'register_face' && html`<a class="button small" href=${linkTo('face')}>${t.verifyFace}</a>`}
        <button type="button" class="small" onClick=${() => begin(videos, plan)}>${t.videos.again}</button>
      </p>
    </div>
  `
}

/**
 * What was entered for a task; where this browser does not know it, what the task itself tells.
 * @param {Task} task
 * @param {Videos} videos
 * @returns {import('./video-request.js').Plan}
 */
const planOf = (task, videos) => {
  const entered = videos.planOf(task.id)
  if (entered) return entered
  const { resolution = '', ratio = '', duration } = task
  return {
    ...emptyPlan,
    ...{ model: task.model, prompt: task.revised_prompt ?? '' },
    fields: { ...emptyPlan.fields, resolution, ratio, duration: duration ? String(duration) : '' },
  }
}

/** Opens the form with these values. @param {Videos} videos @param {import('./video-request.js').Plan} plan */
const begin = (videos, plan) => {
  videos.change({ ...emptyPlan, firstFrame: undefined, lastFrame: undefined, draftTask: undefined, ...plan })
  navigate('videos', 'new')
}

/** @param {{ task: Task }} props */
const Waiting = ({ task }) => {
  const now = useServerTime(true)
  return html`
    <p class="thinking"><i></i><i></i><i></i></p>
    <p role="status">
      ${task.status === 'running' ? t.videos.running : task.place ? placeText(task.place) : t.videos.queued}
    </p>
    <p class="hint">${t.videos.since} <span role="timer" class="figure">${formatCountdown(now - task.created_at * 1000)}</span></p>
  `
}

/** @param {{ address: string | undefined, reload: () => void }} props */
const Player = ({ address, reload }) => {
  const [failed, setFailed] = useState(false)
  useLayoutEffect(() => setFailed(false), [address])
  const retry = () => {
    setFailed(false)
    reload()
  }
  if (!address || failed) return html`<${Failure} message=${t.videos.unplayable} retry=${retry} />`
  return html`
    <video class="player" src=${address} aria-label=${t.videos.result} controls playsinline preload="metadata" onError=${() => setFailed(true)}></video>
  `
}

/** @param {{ task: Task, videos: Videos }} props */
const Results = ({ task, videos }) => {
  const [saving, setSaving] = useState(/** @type {import('./video-request.js').Input | undefined} */ (undefined))
  const title = videos.titleOf(task)
  const video = inputOf(task.content?.video_url, 'Video', title)
  const frame = inputOf(task.content?.last_frame_url, 'Image', t.videos.lastFrameOf(title))
  const plan = (/** @type {Partial<import('./video-request.js').Plan>} */ changes) => {
    videos.change({ ...emptyPlan, model: videos.plan.model || task.model, ...changes })
    navigate('videos', 'new')
  }
  return html`
    <div class="actions result-actions">
      ${video && html`<a class="button" href=${video.url} download target="_blank" rel="noopener noreferrer">${t.videos.download}</a>`}
      ${video && html`<button type="button" onClick=${() => plan({ mode: 'references', references: [video] })}>${t.videos.useAsReference}</button>`}
      ${frame && html`<button type="button" onClick=${() => plan({ mode: 'frames', firstFrame: frame })}>${t.videos.continueFrame}</button>`}
      ${task.draft && html`<button type="button" class="primary" onClick=${() => plan({ mode: 'draft', draftTask: task.id })}>${t.videos.finishDraft}</button>`}
      ${video && html`<button type="button" onClick=${() => setSaving(video)}>${t.videos.saveVideo}</button>`}
      ${frame && html`<button type="button" onClick=${() => setSaving(frame)}>${t.videos.saveFrame}</button>`}
    </div>
    ${frame && html`<figure class="last-frame"><img src=${frame.url} alt=${frame.title} loading="lazy" referrerpolicy="no-referrer" /><figcaption class="hint">${t.videos.lastFrame}</figcaption></figure>`}
    ${saving && html`<${SaveResult} input=${saving} onClose=${() => setSaving(undefined)} />`}
  `
}

/**
 * @param {unknown} address
 * @param {'Image' | 'Video'} type
 * @param {string} title
 * @returns {import('./video-request.js').Input | undefined}
 */
const inputOf = (address, type, title) => {
  const url = httpUrl(address)
  return url === undefined ? undefined : { type, url, title }
}

/** @param {{ task: Task, prompt: string | undefined }} props `prompt`: what the user has entered */
const Facts = ({ task, prompt }) => {
  const { facts } = t.videos
  /** @type {readonly (readonly [string, unknown])[]} */
  const rows = [
    [facts.model, task.model],
    [facts.created, formatTime(new Date(task.created_at * 1000))],
    [facts.updated, formatTime(new Date(task.updated_at * 1000))],
    [facts.resolution, task.resolution],
    [facts.ratio, task.ratio],
    [facts.duration, task.duration !== undefined && task.duration > 0 && t.videos.seconds(task.duration)],
    [facts.seed, task.seed !== undefined && task.seed >= 0 && String(task.seed)],
    [facts.tokens, task.usage?.completion_tokens !== undefined && formatNumber(task.usage.completion_tokens)],
  ]
  return html`
    <dl class="facts">
      ${rows.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
      ${prompt && html`<div class="long"><dt>${facts.ownPrompt}</dt><dd class="text">${prompt}</dd></div>`}
      ${task.revised_prompt && html`<div class="long"><dt>${facts.prompt}</dt><dd>${task.revised_prompt}</dd></div>`}
    </dl>
  `
}
