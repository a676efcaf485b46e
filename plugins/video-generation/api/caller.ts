import { type Identify, requireIdentity } from '../../shared/identity/identify.ts'
import type { VideoService } from '../service/service.ts'
import { videoUnavailable } from '../tasks/problem.ts'
import type { VideoCaller } from '../tasks/tasks.ts'

/** The caller. Throws Problem 401, and 502 without an upstream. */
export const videoCallerOf = async (
  request: Request,
  identify: Identify,
  { hasUpstream }: Pick<VideoService, 'hasUpstream'>,
): Promise<VideoCaller> => {
  const { user, token, models, scopes } = await requireIdentity(identify, request)
  if (!hasUpstream) throw videoUnavailable(new Error('no upstream is configured'), false)
  return { user, ...(token !== undefined && { token }), ...(models && { models }), ...(scopes && { scopes }) }
}
