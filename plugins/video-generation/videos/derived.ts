import type { Clock } from '../../shared/clock.ts'
import { FieldProblem } from '../../shared/field-problem.ts'
import { toJson } from '../../shared/json/json.ts'
import type { VideoTaskView } from '../tasks/tasks.ts'
import { type Fields, textField } from './request/fields.ts'
import { type NewVideo, nativeBody, promptOf, secondsOf } from './request/video-request.ts'
import { toVideo, videoNotesOf } from './video.ts'

/** How a new video comes from another one. */
export type Derivation = 'edit' | 'extend'

/** Names of the fields of a request that derives a video. The path of a remix has the id. */
export const derivedFields = {
  remix: ['prompt'],
  edit: ['prompt', 'video', 'video.id'],
  extend: ['prompt', 'seconds', 'video', 'video.id'],
} as const

/** The id of the source. Throws FieldProblem 400 for a file, and without one. */
export const sourceOf = (fields: Fields): string => {
  const id = textField(fields, 'video.id')
  if (fields.has('video') || id === undefined) {
    throw new FieldProblem(400, 'video must have the id of one of your videos', { param: 'video' })
  }
  return id
}

/**
 * Translates an edit, an extension or a remix of a video: its result becomes a reference video of the new task.
 *
 * Throws FieldProblem 400 for a wrong field, and for a source without a result.
 */
export const toDerivedTask = (
  fields: Fields,
  source: VideoTaskView,
  { derivation, clock }: { readonly derivation: Derivation; readonly clock: Pick<Clock, 'now'> },
): NewVideo => {
  const prompt = promptOf(fields)
  const added = derivation === 'extend' ? secondsOf(fields) : undefined
  if (derivation === 'extend' && added === undefined) {
    throw new FieldProblem(400, 'seconds is required', { param: 'seconds' })
  }
  const url = urlOf(source, clock.now())
  const { model, seconds, size } = toVideo(source)
  const resolution = source.body.get('resolution')?.string()
  const settings = {
    ...(resolution !== undefined && { resolution }),
    ratio: 'adaptive',
    duration: added === undefined ? -1 : Number(added),
    ...(hasTaskTypes(source) && { omni_reference_task_type: derivation }),
    return_last_frame: true,
  }
  const content = [
    toJson({ type: 'text', text: prompt }),
    toJson({ type: 'video_url', video_url: { url }, role: 'reference_video' }),
  ]
  const total = added === undefined || seconds === '0' ? (added ?? seconds) : String(Number(seconds) + Number(added))
  return {
    body: nativeBody(source.model, content, settings),
    // Its result shows them too.
    persons: source.persons,
    notes: {
      ...{ prompt, model: videoNotesOf(source).model ?? model, seconds: total, size },
      ...(derivation === 'edit' && { remixedFrom: source.id }),
    },
  }
}

/**
 * Only models of this family have the field `omni_reference_task_type`. The task has the model's own name, also if it
 * was created with an endpoint.
 */
const hasTaskTypes = ({ body }: VideoTaskView): boolean => /seedance-2-5/.test(body.get('model')?.string() ?? '')

/**
 * A link that the upstream can read: its own while it is valid, because its own output may show faces, and else that of
 * the stored copy.
 */
const urlOf = ({ id, result, endedAt = 0, body }: VideoTaskView, now: number): string => {
  const { copies, links } = result ?? { copies: {}, links: {} }
  const copy = copies.video === undefined ? undefined : body.get('content')?.get('video_url')?.string()
  const url = links.video !== undefined && now < endedAt + linkMs ? links.video : copy
  if (url === undefined) {
    throw new FieldProblem(400, `the video '${id}' is not completed, or has expired`, { param: 'video' })
  }
  return url
}

/** The upstream's links are valid for 24 hours. The queue may take an hour of them. */
const linkMs = 23 * 3_600_000
