import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { Empty } from '../controls/placeholder.js'
import { t } from '../words/words.js'
import { VideoDetail } from './video-detail.js'
import { VideoForm } from './video-form.js'
import { VideoList } from './video-list.js'

/**
 * The screens of video generation: the list, the form, and one task.
 * @param {{ videos: import('./videos.js').Videos, part: string | undefined }} props `part`: `new`, or the id of a task
 */
export const VideoScreen = ({ videos, part }) => {
  if (!paths.video) {
    return html`
      <div class="heading"><h1 tabindex="-1">${t.videos.title}</h1></div>
      <${Empty} icon="videos" title=${t.videos.notOffered} />
    `
  }
  if (part === 'new') return html`<${VideoForm} videos=${videos} />`
  return part
    ? html`<${VideoDetail} key=${part} videos=${videos} id=${part} />`
    : html`<${VideoList} videos=${videos} />`
}
