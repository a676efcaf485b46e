import { FieldProblem } from '../../shared/field-problem.ts'
import { isVideoTaskId } from '../../shared/media/video-task-id.ts'
import type { VideoTasks } from '../tasks/tasks.ts'
import type { VideoPage } from './route-types.ts'
import { toVideo } from './video.ts'

/** Answers `GET /videos` from the rows of the user. Throws FieldProblem 400 for a wrong parameter. */
export const listVideos = async (
  tasks: Pick<VideoTasks, 'list'>,
  user: string,
  query: URLSearchParams,
): Promise<VideoPage> => {
  const { limit, order, after } = readQuery(query)
  // One more than the page has, to learn whether there is a next page.
  const found = await tasks.list(user, {}, { after, limit: limit + 1, order })
  const data = found.tasks.slice(0, limit).map(toVideo)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.tasks.length > limit,
  }
}

const readQuery = (query: URLSearchParams) => {
  const limit = query.get('limit') || '20'
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > maxLimit) {
    throw new FieldProblem(400, `limit must be a whole number from 1 to ${maxLimit}`, { param: 'limit' })
  }
  const order = query.get('order') || 'desc'
  if (order !== 'asc' && order !== 'desc') {
    throw new FieldProblem(400, 'order must be asc or desc', { param: 'order' })
  }
  const after = query.get('after') || undefined
  if (after !== undefined && !isVideoTaskId(after)) {
    throw new FieldProblem(400, 'after must be the id of a video', { param: 'after' })
  }
  return { limit: Number(limit), order, after } as const
}

const maxLimit = 100
