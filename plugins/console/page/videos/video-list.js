import { useEffect } from 'preact/hooks'
import { useAdvice } from '../controls/advice.js'
import { Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Icon } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { httpUrl } from '../controls/preview.js'
import { Thumbnail } from '../controls/thumbnail.js'
import { linkTo } from '../frame/route.js'
import { useAddress } from '../lists/address.js'
import { MoreAtEnd } from '../lists/more-at-end.js'
import { setFrom } from '../lists/search-field.js'
import { formatDuration, formatTime } from '../words/format.js'
import { t } from '../words/words.js'
import { filesOf } from './video-request.js'
import { reasonOf } from './video-task.js'

/** @typedef {import('./video-task.js').Task} Task */
/** @typedef {import('./videos.js').Videos} Videos */

/**
 * The user's video tasks, newest first.
 * @param {{ videos: Videos }} props
 */
export const VideoList = ({ videos }) => {
  const { tasks, total, busy, error, show, loadMore } = videos
  const [filter, setFilter] = useAddress({ status: '', tier: '' })
  useEffect(() => {
    void show(filter)
  }, [filter.status, filter.tier])
  const isFiltered = filter.status !== '' || filter.tier !== ''
  return html`
    <div class="heading">
      <h1 tabindex="-1">${t.videos.title}</h1>
      <div class="actions">
        <button type="button" aria-disabled=${busy} onClick=${() => busy || show(filter)}>${t.refresh}</button>
        <a class="button primary" href=${linkTo('videos', 'new')}><${Icon} name="add" />${t.videos.create}</a>
      </div>
    </div>
    <p class="lead">${t.videos.lead}</p>
    <div class="filters">
      <${Select} label=${t.assets.status} value=${filter.status} choices=${statuses} onChange=${setFrom((status) => setFilter({ status }))} />
      <${Select} label=${t.videos.tier} value=${filter.tier} choices=${tiers} onChange=${setFrom((tier) => setFilter({ tier }))} />
    </div>
    <${Failure} message=${error} retry=${() => show(filter)} />
    ${total === undefined && busy && html`<${Loading} kind="rows" />`}
    ${
      tasks.length > 0
        ? html`
            <ul class="rows" aria-busy=${busy}>
              ${tasks.map((task) => html`<${Row} key=${task.id} task=${task} title=${videos.titleOf(task)} plan=${videos.planOf(task.id)} />`)}
            </ul>
            <${MoreAtEnd} shown=${tasks.length} total=${Math.max(total ?? 0, tasks.length)} busy=${busy} loadMore=${loadMore} />
          `
        : total !== undefined && emptyList(isFiltered)
    }
  `
}

/** @type {readonly (readonly [string, string])[]} */
const statuses = [['', t.assets.anyStatus], ...Object.entries(t.videos.states)]

/** @type {readonly (readonly [string, string])[]} */
const tiers = [
  ['', t.videos.tiers.default],
  ['flex', t.videos.tiers.flex],
]

/** @param {{ task: Task, title: string, plan: import('./video-request.js').Plan | undefined }} props */
const Row = ({ task, title, plan }) => {
  const created = new Date(task.created_at * 1000)
  const reason = reasonOf(task)
  const advice = useAdvice(task.error?.code, task.error?.message)
  return html`
    <li class="video-row">
      <${Thumbnail} ...${pictureOf(task, plan)} />
      <div class="item-text">
        <h2 class="video-title"><a href=${linkTo('videos', task.id)}>${title}</a></h2>
        <p class="hint">
          <${StatusBadge} task=${task} />
          <span>${task.model}</span>
          <time datetime=${created.toISOString()}>${formatTime(created)}</time>
        </p>
        ${task.place && task.status === 'queued' && html`<p class="hint">${placeText(task.place)}</p>`}
        ${reason && html`<p class="failure-reason">${advice?.text ?? reason}</p>`}
      </div>
    </li>
  `
}

/**
 * What a task looks like: its video, or the first file that it is made of.
 * @param {Task} task
 * @param {import('./video-request.js').Plan | undefined} plan
 */
const pictureOf = ({ content }, plan) => {
  const frame = httpUrl(content?.last_frame_url)
  if (frame) return { type: 'Image', address: frame }
  const video = httpUrl(content?.video_url)
  if (video) return { type: 'Video', address: video }
  const [file] = plan ? filesOf(plan) : []
  return file ? { type: file.type, address: file.preview ?? httpUrl(file.url) } : { type: 'Video', address: undefined }
}

/** @param {{ task: Task }} props */
export const StatusBadge = ({ task: { status } }) =>
  html`<span class=${`badge ${status}`}>${t.videos.states[status] ?? status}</span>`

/** @param {import('./video-task.js').Place} place */
export const placeText = ({ position, seconds }) =>
  seconds === undefined ? t.videos.place(position) : t.videos.placeAndTime(position, formatDuration(seconds))

/** @param {boolean} isFiltered */
const emptyList = (isFiltered) =>
  isFiltered
    ? html`<${Empty} icon="videos" title=${t.assets.emptyFiltered} />`
    : html`
        <${Empty} icon="videos" title=${t.videos.empty}>
          <p>${t.videos.emptyHint}</p>
          <a class="button primary" href=${linkTo('videos', 'new')}><${Icon} name="add" />${t.videos.createFirst}</a>
        <//>
      `
